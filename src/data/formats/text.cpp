#include <unordered_map>

#include <thalweg/base/reader.h>
#include <thalweg/data/text.h>

#include "base/fail.h"
#include "base/utf8.h"
#include "data/formats/make.h"
#include "data/formats/numbers.h"
#include "data/formats/row_corpus.h"

namespace thalweg::data {
namespace {

class TextFormat final : public RowFormat {
 public:
  explicit TextFormat(TextOptions options) : options_(std::move(options)) {
    if (options_.tokens == TextTokens::words) number_words();
    const DType dtypes[] = {DType::u8, DType::i32, DType::i64};
    streams_ = {
        {options_.name, dtypes[static_cast<int>(options_.tokens)], {}, false, options_.vocabulary}};
    if (options_.bad_utf8 == BadUtf8::keep && options_.tokens == TextTokens::characters)
      fail_invalid("text: bytes that are not UTF-8 are no characters; reject or replace them");
  }

  const char* operation() const override { return "text"; }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  bool is_sample(std::string_view row) const override {
    return options_.tokens == TextTokens::words ? !trimmed(row).empty() : !row.empty();
  }
  bool is_ragged() const override { return true; }
  size_t loaded_bytes(size_t rows, size_t text_bytes) const override {
    // A word has a byte and a blank at least.
    const size_t per_byte = options_.tokens == TextTokens::bytes ? 3 : 4;
    return rows * 16 + text_bytes * per_byte;
  }

  void parse(const Row& row, const std::string& file, TableChunk& table) const override {
    const std::string text = checked(row, file);
    if (options_.tokens == TextTokens::bytes) {
      table.push_samples(0, as_bytes(text), text.size());
    } else if (options_.tokens == TextTokens::characters) {
      std::vector<int32_t> characters;
      for (std::string_view rest = text; !rest.empty();) {
        const CodePoint point = next_code_point(rest);
        characters.push_back(point.value);
        rest.remove_prefix(point.bytes);
      }
      table.push_samples(0, std::as_bytes(std::span(characters)), characters.size());
    } else {
      const std::vector<int64_t> words = numbers_of(text, row, file);
      table.push_samples(0, std::as_bytes(std::span(words)), words.size());
    }
  }

 private:
  void number_words() {
    if (options_.vocabulary.empty()) fail_invalid("text: words need a vocabulary");
    for (size_t i = 0; i < options_.vocabulary.size(); ++i) {
      if (!numbers_.emplace(options_.vocabulary[i], static_cast<int64_t>(i)).second) {
        fail_invalid("text: the vocabulary has '{}' twice, the second time as word {}",
                     options_.vocabulary[i], i);
      }
    }
    if (!options_.unknown.empty() && !numbers_.contains(options_.unknown))
      fail_invalid("text: the vocabulary lacks the word for others, '{}'", options_.unknown);
  }

  // The row with what is not UTF-8 replaced.
  std::string checked(const Row& row, const std::string& file) const {
    std::string text;
    text.reserve(row.text.size());
    for (size_t at = 0; at < row.text.size();) {
      const CodePoint point = next_code_point(row.text.substr(at));
      if (!point.is_valid && options_.bad_utf8 == BadUtf8::reject) {
        fail_io(
            "text: not UTF-8; {}:{}, byte {}: found 0x{:02X}; replace or keep such bytes, or "
            "convert the file",
            file, row.line, at, static_cast<uint8_t>(row.text[at]));
      }
      if (!point.is_valid && options_.bad_utf8 == BadUtf8::replace)
        text += "\xEF\xBF\xBD";
      else
        text += row.text.substr(at, point.bytes);
      at += point.bytes;
    }
    return text;
  }

  std::vector<int64_t> numbers_of(const std::string& text, const Row& row,
                                  const std::string& file) const {
    std::vector<int64_t> words;
    for (size_t at = 0;;) {
      at = text.find_first_not_of(" \t", at);
      if (at == std::string::npos) return words;
      const size_t end = std::min(text.find_first_of(" \t", at), text.size());
      auto found = numbers_.find(text.substr(at, end - at));
      if (found == numbers_.end() && options_.unknown.empty()) {
        fail_io(
            "text: a word is not in the vocabulary; {}:{}:{}: found '{}'; name a word for others",
            file, row.line, at + 1, shortened(std::string_view(text).substr(at, end - at)));
      }
      if (found == numbers_.end()) found = numbers_.find(options_.unknown);
      words.push_back(found->second);
      at = end;
    }
  }

  TextOptions options_;
  std::vector<StreamInfo> streams_;
  std::unordered_map<std::string, int64_t> numbers_;
};

// Every so many bytes, whatever they are.
class BlockFormat final : public RowFormat {
 public:
  BlockFormat(const std::string& name, int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    if (bytes < 1) fail_invalid("text: blocks of {} bytes; at least 1", bytes);
    streams_ = {{name, DType::u8, {}, false, {}}};
  }

  const char* operation() const override { return "text"; }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  bool has_lines() const override { return false; }
  bool is_ragged() const override { return true; }
  size_t row_end(std::string_view text, size_t at) const override {
    return text.size() - at < bytes_ ? std::string_view::npos : at + bytes_;
  }
  bool is_sample(std::string_view row) const override { return !row.empty(); }
  size_t loaded_bytes(size_t rows, size_t text_bytes) const override {
    return rows * 16 + text_bytes;
  }
  void parse(const Row& row, const std::string&, TableChunk& table) const override {
    table.push_samples(0, as_bytes(row.text), row.text.size());
  }

 private:
  size_t bytes_;
  std::vector<StreamInfo> streams_;
};

}  // namespace

std::unique_ptr<Deserializer> make_text(std::unique_ptr<ByteSource> source, TextOptions options) {
  const int64_t max_errors = options.max_errors;
  const RowCorpus::Start start{start_of_text("text", *source), 1};
  std::unique_ptr<RowFormat> format;
  if (options.unit == TextUnit::blocks)
    format = std::make_unique<BlockFormat>(options.name, options.block_bytes);
  else
    format = std::make_unique<TextFormat>(std::move(options));
  return std::make_unique<RowCorpus>(std::move(source), std::move(format), start, max_errors);
}

TextDeserializer::TextDeserializer(const std::string& path, TextOptions options) {
  inner_ = make_text(open_source(path), std::move(options));
}

std::vector<std::string> read_vocabulary(const std::string& path) {
  const auto reader = open_reader(path);
  std::vector<std::string> words;
  for (std::string line; reader->read_line(line);) words.push_back(line);
  if (words.empty()) fail_io("text: the vocabulary is empty; {}", path);
  if (words[0].starts_with("\xef\xbb\xbf")) words[0].erase(0, 3);
  return words;
}

}  // namespace thalweg::data
