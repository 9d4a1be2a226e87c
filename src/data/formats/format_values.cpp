#include "data/formats/format_values.h"

#include <algorithm>
#include <type_traits>

#include "base/fail.h"
#include "data/formats/numbers.h"

namespace thalweg::data {

std::string OptionValues::text(const std::string& name, const std::string& otherwise) const {
  const auto at = values_.find(name);
  return at == values_.end() ? otherwise : at->second;
}

bool OptionValues::flag(const std::string& name, bool otherwise) const {
  const std::string value = text(name, otherwise ? "true" : "false");
  if (value != "true" && value != "false")
    fail_invalid("{}: option {} cannot be '{}'; expected true or false", format_, name, value);
  return value == "true";
}

int64_t OptionValues::number(const std::string& name, int64_t otherwise) const {
  const auto at = values_.find(name);
  if (at == values_.end()) return otherwise;
  int64_t value = 0;
  if (parse_number(at->second, DType::i64, reinterpret_cast<std::byte*>(&value)) !=
      NumberFault::none)
    fail_invalid("{}: option {} cannot be '{}'; expected a whole number", format_, name,
                 at->second);
  return value;
}

std::optional<double> OptionValues::real(const std::string& name) const {
  const auto at = values_.find(name);
  if (at == values_.end()) return std::nullopt;
  double value = 0;
  if (parse_number(at->second, DType::f64, reinterpret_cast<std::byte*>(&value)) !=
      NumberFault::none)
    fail_invalid("{}: option {} cannot be '{}'; expected a number", format_, name, at->second);
  return value;
}

char OptionValues::character(const std::string& name, char otherwise) const {
  const std::string value = text(name, std::string(1, otherwise));
  if (value == "\\t" || value == "tab") return '\t';
  if (value.size() != 1)
    fail_invalid("{}: option {} cannot be '{}'; expected one character, or tab", format_, name,
                 value);
  return value[0];
}

std::vector<std::string> OptionValues::list(const std::string& name) const {
  std::vector<std::string> parts;
  const std::string value = text(name);
  for (size_t at = 0; at < value.size();) {
    const size_t end = std::min(value.find(',', at), value.size());
    parts.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

void require_dense(const char* format, const std::vector<StreamInfo>& streams) {
  for (const StreamInfo& stream : streams) {
    if (stream.sparse)
      fail_invalid("{}: stream '{}' is sparse; the format holds dense ones", format, stream.name);
    if (std::ranges::find(stream.shape, -1) != stream.shape.end()) {
      fail_invalid("{}: stream '{}' has samples of several sizes, {}", format, stream.name,
                   to_string(stream.shape));
    }
  }
}

void require_single_samples(const char* format, const SequenceKey& key,
                            std::span<const StreamValues> values) {
  for (const StreamValues& stream : values) {
    if (stream.samples == 1) continue;
    fail_invalid("{}: a sequence has one sample in each stream; {} has {}", format, to_string(key),
                 stream.samples);
  }
}

void append_number(std::string& text, DType dtype, const void* values, int64_t i) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T value = static_cast<const T*>(values)[i];
    if constexpr (std::is_same_v<T, bool>)
      text += value ? '1' : '0';
    else if constexpr (std::is_integral_v<T>)
      fmt::format_to(std::back_inserter(text), "{}", static_cast<int64_t>(value));
    else if constexpr (std::is_floating_point_v<T>)
      fmt::format_to(std::back_inserter(text), "{}", value);
    else
      fmt::format_to(std::back_inserter(text), "{}", static_cast<float>(value));
  });
}

}  // namespace thalweg::data
