#include "data/image/xml.h"

#include <charconv>

#include <fast_float/fast_float.h>

#include <thalweg/base/file.h>

#include "base/fail.h"
#include "data/formats/numbers.h"

namespace thalweg::data {

OpenCvXml::OpenCvXml(const char* what, const std::string& path)
    : what_(what), path_(path), text_(read_file(path, uint64_t{1} << 30)) {}

// What stands between <name ...> and </name>.
std::string_view OpenCvXml::element(std::string_view xml, std::string_view name) const {
  const std::string open = fmt::format("<{}", name);
  const std::string close = fmt::format("</{}>", name);
  for (size_t at = xml.find(open); at != std::string_view::npos; at = xml.find(open, at + 1)) {
    const size_t after = at + open.size();
    if (after < xml.size() && xml[after] != '>' && xml[after] != ' ') continue;
    const size_t begin = xml.find('>', after);
    const size_t end = xml.find(close, after);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) break;
    return xml.substr(begin + 1, end - begin - 1);
  }
  fail_io("{}: <{}> is not there or not closed; {}; is it an OpenCV XML file as CNTK's?", what_,
          name, path_);
}

int64_t OpenCvXml::size(std::string_view name) const {
  const std::string_view text = trimmed(element(text_, name));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 1 << 20)
    fail_io("{}: <{}> is no size; {}: found '{}'", what_, name, path_, shortened(text));
  return value;
}

std::vector<float> OpenCvXml::matrix(std::string_view name) const {
  const std::string_view text = element(element(text_, name), "data");
  std::vector<float> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  for (;;) {
    while (at < end && is_blank(*at)) ++at;
    if (at == end) return numbers;
    float value;
    const auto [next, error] = fast_float::from_chars(at, end, value);
    if (error != std::errc() || (next < end && !is_blank(*next))) {
      fail_io("{}: not a number; {}, value {}: found '{}'", what_, path_, numbers.size(),
              std::string_view(at, std::min<size_t>(20, static_cast<size_t>(end - at))));
    }
    numbers.push_back(value);
    at = next;
  }
}

}  // namespace thalweg::data
