#include "data/formats/csv_fields.h"

#include "base/fail.h"

namespace thalweg::data {

size_t csv_row_end(std::string_view text, size_t at, char delimiter) {
  for (bool at_field = true; at < text.size();) {
    if (at_field && text[at] == '"') {
      // To the quote that closes: doubled ones come in pairs.
      do {
        at = text.find('"', at + 1);
        if (at == std::string_view::npos) return at;
        ++at;
        if (at == text.size()) return std::string_view::npos;
      } while (text[at] == '"');
    }
    const size_t line = text.find('\n', at);
    const size_t quote = text.substr(0, line).find('"', at);
    if (quote == std::string_view::npos) return line == std::string_view::npos ? line : line + 1;
    at_field = quote > at && text[quote - 1] == delimiter;
    at = at_field ? quote : quote + 1;
  }
  return std::string_view::npos;
}

// Returns the place after the closing quote.
size_t CsvSplitter::split_quoted(std::string_view row, size_t at, const std::string& where) {
  const size_t begin = at;
  const size_t kept = unquoted_.size();
  bool doubled = false;
  for (++at;;) {
    const size_t quote = row.find('"', at);
    if (quote == std::string_view::npos) {
      fail_io("csv: a quote is not closed; {}:{}: expected '\"' before the end of the file", where,
              begin + 1);
    }
    if (quote + 1 == row.size() || row[quote + 1] != '"') {
      std::string_view text = row.substr(begin + 1, quote - begin - 1);
      if (doubled) {
        unquoted_ += row.substr(at, quote - at);
        text = std::string_view(unquoted_).substr(kept);
      }
      fields_.push_back({text, begin, true});
      return quote + 1;
    }
    doubled = true;
    unquoted_ += row.substr(at, quote + 1 - at);
    at = quote + 2;
  }
}

const std::vector<CsvField>& CsvSplitter::split(std::string_view row, const std::string& where) {
  fields_.clear();
  unquoted_.clear();
  unquoted_.reserve(row.size());  // views of it must not move
  for (size_t at = 0;;) {
    if (at < row.size() && row[at] == '"') {
      at = split_quoted(row, at, where);
      if (at < row.size() && row[at] != delimiter_) {
        fail_io(
            "csv: text after a closing quote; {}:{}: expected '{}' or the end of the row, found "
            "'{}'; double quotes inside quotes",
            where, at + 1, delimiter_, row[at]);
      }
    } else {
      const size_t end = std::min(row.find(delimiter_, at), row.size());
      fields_.push_back({row.substr(at, end - at), at, false});
      at = end;
    }
    if (at == row.size()) return fields_;
    ++at;
  }
}

std::string csv_field(std::string_view text, char delimiter) {
  const char special[] = {delimiter, '"', '\n', '\r', 0};
  const bool is_plain = text.find_first_of(special) == std::string_view::npos && !text.empty() &&
                        text.front() != ' ' && text.back() != ' ';
  if (is_plain) return std::string(text);
  std::string field = "\"";
  for (char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + '"';
}

}  // namespace thalweg::data
