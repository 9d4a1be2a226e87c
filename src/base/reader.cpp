#include <algorithm>
#include <cstring>

#include <thalweg/base/reader.h>

#include "base/fail.h"

namespace thalweg {
namespace {

constexpr uint64_t kGrowth = uint64_t{1} << 20;

[[noreturn]] void fail_short(const std::string& where, uint64_t expected, uint64_t found) {
  fail_io("read: data end early; {}: expected {} bytes, found {}", where, expected, found);
}

}  // namespace

std::string Reader::where() const { return fmt::format("{} at byte {}", name_, offset()); }

bool Reader::next() {
  offset_of_chunk_ += chunk_.size();
  used_ = 0;
  chunk_ = {};
  chunk_ = next_chunk();
  return !chunk_.empty();
}

size_t Reader::read_some(std::span<std::byte> into) {
  size_t done = 0;
  while (done < into.size() && !at_end()) {
    const size_t n = std::min(into.size() - done, chunk_.size() - used_);
    std::memcpy(into.data() + done, chunk_.data() + used_, n);
    used_ += n;
    done += n;
  }
  return done;
}

void Reader::read(std::span<std::byte> into) {
  if (into.size() <= chunk_.size() - used_) {
    std::copy_n(chunk_.data() + used_, into.size(), into.data());
    used_ += into.size();
    return;
  }
  const std::string start = where();
  const size_t found = read_some(into);
  if (found < into.size()) fail_short(start, into.size(), found);
}

std::string Reader::read_string(uint64_t size) {
  if (const auto left = remaining(); left && *left < size) fail_short(where(), size, *left);
  const std::string start = where();
  std::string bytes;
  while (bytes.size() < size) {
    const size_t have = bytes.size();
    bytes.resize(have +
                 static_cast<size_t>(std::min(size - have, std::max<uint64_t>(kGrowth, have))));
    const auto part = std::as_writable_bytes(std::span(bytes).subspan(have));
    const size_t found = read_some(part);
    if (found < part.size()) fail_short(start, size, have + found);
  }
  return bytes;
}

bool Reader::read_line(std::string& line, size_t max_size) {
  line.clear();
  if (at_end()) return false;
  const std::string start = where();
  bool ended = false;
  while (!ended && !at_end()) {
    const std::string_view rest = as_text(chunk_.subspan(used_));
    const size_t length = rest.find('\n');
    ended = length != std::string_view::npos;
    line.append(rest.substr(0, length));
    used_ += ended ? length + 1 : rest.size();
    if (line.size() > max_size) fail_io("read: line is longer than {} bytes; {}", max_size, start);
  }
  if (ended && !line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

void Reader::skip(uint64_t size) {
  const std::string start = where();
  uint64_t left = size;
  while (left > 0 && !at_end()) {
    const size_t n = static_cast<size_t>(std::min<uint64_t>(left, chunk_.size() - used_));
    used_ += n;
    left -= n;
  }
  if (left > 0) fail_short(start, size, size - left);
}

}  // namespace thalweg
