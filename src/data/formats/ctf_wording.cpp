#include "data/formats/ctf_wording.h"

#include <string_view>

#include <fmt/format.h>

#include "data/formats/ctf_rules.h"
#include "data/formats/decimal.h"

namespace thalweg::data {
namespace {

using ctf::is_blank;
using ctf::is_digit;

bool ends_row(const char* at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }
bool ends_word(const char* at) { return is_blank(*at) || *at == '|' || ends_row(at); }

const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}

std::string_view word_at(const char* at) {
  const char* end = at;
  while (!ends_word(end)) ++end;
  return {at, static_cast<size_t>(end - at)};
}

std::string quoted(std::string_view text) {
  constexpr size_t kMax = 24;
  std::string result = "'";
  for (const char c : text.substr(0, kMax)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      result += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + (text.size() > kMax ? "...'" : "'");
}

bool begins_number(const char* at) {
  if (*at == '-' || *at == '+') ++at;
  return is_digit(*at) || (*at == '.' && is_digit(at[1]));
}

// How many numbers follow, as far as words begin like numbers.
size_t count_numbers(const char* at) {
  size_t n = 0;
  for (at = skip_blanks(at); begins_number(at); at = skip_blanks(at)) {
    ++n;
    at += word_at(at).size();
  }
  return n;
}

// A number that is one of f64, but not of f32; or of neither.
std::string too_large(const char* at, DType dtype) {
  const std::string_view word = word_at(at);
  double value;
  const char* const end =
      parse_decimal(at, at + word.size() + 1, value);  // the byte after is no part of a number
  const bool is_f64 = end == at + word.size();
  if (is_f64 && dtype == DType::f32)
    return fmt::format("a number of f32, found {}; declare the stream as f64", quoted(word));
  return "";
}

std::string number_wording(const char* at, DType dtype) {
  const std::string_view word = word_at(at);
  if (const std::string text = begins_number(at) ? too_large(at, dtype) : ""; !text.empty())
    return text;
  const bool is_finite = word.find("nan") == word.npos && word.find("inf") == word.npos &&
                         word.find("NaN") == word.npos && word.find("Inf") == word.npos;
  return fmt::format("{}, found {}", is_finite ? "a number" : "a finite number", ctf_found(at));
}

}  // namespace

std::string ctf_found(const char* at) {
  if (ends_row(at)) return "the row's end";
  const std::string_view word = word_at(at);
  return quoted(word.empty() ? std::string_view(at, 1) : word);
}

CtfWording dense_wording(const char* at, const char* token, size_t values, int64_t dim,
                         DType dtype) {
  const auto count = [&](size_t found) {
    return fmt::format("expected {} {}, found {}", dim, dim == 1 ? "value" : "values", found);
  };
  const char* const next = skip_blanks(at);
  const bool is_joined = values > 0 && at == next && !ends_word(at);
  if (!is_joined && (*next == '|' || ends_row(next))) return {next, count(values)};
  if (!is_joined && values == static_cast<size_t>(dim) && count_numbers(next) > 0)
    return {next, count(values + count_numbers(next))};
  const char* const word = is_joined ? token : next;
  const bool is_pair = word_at(word).find(':') != std::string_view::npos;
  if (!is_joined && values == 0 && !is_pair && count_numbers(next) > 0 &&
      count_numbers(next) < static_cast<size_t>(dim)) {
    return {next, count(count_numbers(next))};
  }
  return {word,
          "expected " + number_wording(word, dtype) + (is_pair ? "; is the stream sparse?" : "")};
}

CtfWording sparse_wording(const char* token, DType dtype) {
  const std::string_view word = word_at(token);
  const size_t colon = word.find(':');
  if (colon != word.npos && colon > 0 && word.find_first_not_of("0123456789") == colon &&
      word.find(':', colon + 1) == word.npos) {
    const char* const value = token + colon + 1;
    return {value, "expected " + number_wording(value, dtype)};
  }
  // A number alone is shown with the blank that stands in place of the colon.
  const bool is_index = !word.empty() && word.find_first_not_of("0123456789") == word.npos;
  const std::string found = is_index && is_blank(token[word.size()])
                                ? quoted({token, word.size() + 1})
                                : ctf_found(token);
  return {token,
          fmt::format("expected index:value, found {}{}", found,
                      begins_number(token) && colon == word.npos ? "; is the stream dense?" : "")};
}

}  // namespace thalweg::data
