#include "cli/convert_tokens.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/reader.h>
#include <thalweg/base/writer.h>

#include "base/fail.h"

namespace thalweg::cli {
namespace {

struct Dictionary {
  std::string field;
  std::string path;
  std::unordered_map<std::string, int64_t> numbers;
};

// Lines without a byte-order mark at the start.
bool read_line(Reader& reader, std::string& line) {
  const bool is_first = reader.offset() == 0;
  if (!reader.read_line(line)) return false;
  if (is_first && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  return true;
}

Dictionary read_dictionary(const std::string& option, size_t number) {
  const size_t equals = option.find('=');
  Dictionary dictionary;
  dictionary.field = equals == option.npos ? fmt::format("S{}", number) : option.substr(0, equals);
  dictionary.path = equals == option.npos ? option : option.substr(equals + 1);
  const auto reader = open_reader(dictionary.path);
  std::string line;
  for (int64_t i = 0; read_line(*reader, line); ++i) {
    if (!dictionary.numbers.emplace(line, i).second)
      fail_io("{}:{}: token '{}' is there a second time", dictionary.path, i + 1, line);
  }
  if (dictionary.numbers.empty()) fail_io("convert: the dictionary is empty; {}", dictionary.path);
  return dictionary;
}

std::vector<std::string_view> split(std::string_view text, char at, bool skips_empty) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    if (end > begin || !skips_empty) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// What a remark can hold: it ends at the next '|'.
std::string remark(std::string_view token) {
  std::string text(token);
  for (size_t at = text.find('|'); at != text.npos; at = text.find('|', at + 2))
    text.insert(at + 1, "#");
  return text;
}

class TokenConverter {
 public:
  explicit TokenConverter(const ConvertOptions& options) : options_(options), out_(options.to) {
    for (const std::string& dictionary : options.dictionaries)
      dictionaries_.push_back(read_dictionary(dictionary, dictionaries_.size()));
  }

  void run() {
    const auto reader = open_reader(options_.from);
    std::string line;
    for (int64_t number = 1; read_line(*reader, line); ++number)
      if (!line.empty()) add_line(line, number);
    if (sequences_ == 0) fail_io("convert: there are no lines; {}", options_.from);
    out_.commit();
    fmt::print("{}: {} sequences, {} rows\n", options_.to, sequences_, rows_);
    for (const Dictionary& dictionary : dictionaries_)
      fmt::print("  --stream {}:sparse:{}\n", dictionary.field, dictionary.numbers.size());
  }

 private:
  void add_line(std::string_view line, int64_t number) {
    const auto columns = split(line, '\t', false);
    if (columns.size() != dictionaries_.size()) {
      fail_io("{}:{}: expected {} columns between tabs, one a dictionary, found {}", options_.from,
              number, dictionaries_.size(), columns.size());
    }
    std::vector<std::vector<std::string_view>> tokens;
    size_t rows = 0;
    for (const std::string_view column : columns) {
      tokens.push_back(split(column, ' ', true));
      rows = std::max(rows, tokens.back().size());
      if (tokens.back().empty()) {
        fail_io("{}:{}:{}: expected a token in every column, found none", options_.from, number,
                column.data() - line.data() + 1);
      }
    }
    std::string text;
    for (size_t row = 0; row < rows; ++row) {
      text += fmt::format("{}", sequences_);
      for (size_t i = 0; i < dictionaries_.size(); ++i)
        if (row < tokens[i].size()) text += sample(i, tokens[i][row], line, number);
      text += '\n';
    }
    out_.write(text);
    ++sequences_;
    rows_ += static_cast<int64_t>(rows);
  }

  std::string sample(size_t column, std::string_view token, std::string_view line, int64_t number) {
    const Dictionary& dictionary = dictionaries_[column];
    const auto found = dictionary.numbers.find(std::string(token));
    if (found == dictionary.numbers.end()) {
      fail_io("{}:{}:{}: token '{}' is not in the dictionary {}", options_.from, number,
              token.data() - line.data() + 1, token, dictionary.path);
    }
    return fmt::format("\t|{} {}:1{}", dictionary.field, found->second,
                       options_.annotate ? " |# " + remark(token) : "");
  }

  const ConvertOptions& options_;
  AtomicFile out_;
  std::vector<Dictionary> dictionaries_;
  int64_t sequences_ = 0;
  int64_t rows_ = 0;
};

}  // namespace

void convert_tokens(const ConvertOptions& options) { TokenConverter(options).run(); }

}  // namespace thalweg::cli
