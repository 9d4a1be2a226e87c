#include "data/formats/key_column.h"

#include <charconv>

namespace thalweg::data {
namespace {

bool parse(std::string_view text, uint64_t& number) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end;
}

}  // namespace

void KeyColumn::push_back(std::string_view text) {
  uint64_t number;
  are_numbers_ = are_numbers_ && parse(text, number);
  text_ += text;
  ends_.push_back(text_.size());
}

SequenceKey KeyColumn::operator[](int64_t i) const {
  if (empty()) return static_cast<uint64_t>(i);
  const auto at = static_cast<size_t>(i);
  const size_t begin = at == 0 ? 0 : ends_[at - 1];
  const std::string_view text = std::string_view(text_).substr(begin, ends_[at] - begin);
  uint64_t number = 0;
  if (are_numbers_ && parse(text, number)) return number;
  return std::string(text);
}

}  // namespace thalweg::data
