#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <thalweg/data/libsvm.h>

#include "base/fail.h"
#include "data/formats/make.h"
#include "data/formats/numbers.h"
#include "data/formats/row_corpus.h"

namespace thalweg::data {
namespace {

struct Feature {
  int32_t column;
  float value;
};

// The words of one row. Blanks after a colon are allowed, as strtok and strtod allow them.
class Words {
 public:
  Words(const Row& row, const std::string& file) : row_(row), file_(file), text_(row.text) {
    text_ = text_.substr(0, text_.find('#'));
    skip_blanks();
  }

  bool at_end() const { return at_ == text_.size(); }

  std::string_view next() {
    begin_ = at_;
    while (!at_end() && !is_blank(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin_, at_ - begin_);
    skip_blanks();
    return word;
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> what, Args&&... args) const {
    fail_io("libsvm: malformed row; {}:{}:{}: {}", file_, row_.line, begin_ + 1,
            fmt::format(what, std::forward<Args>(args)...));
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }

  const Row& row_;
  const std::string& file_;
  std::string_view text_;
  size_t at_ = 0;
  size_t begin_ = 0;
};

class LibsvmFormat final : public RowFormat {
 public:
  explicit LibsvmFormat(LIBSVMOptions options) : options_(std::move(options)) {
    if (options_.dim < 1 || options_.dim > INT32_MAX) {
      fail_invalid("libsvm: {} features; set dim to the number of features, at most {}",
                   options_.dim, INT32_MAX);
    }
    if (options_.index_base != 0 && options_.index_base != 1)
      fail_invalid("libsvm: index_base {} is neither 0 nor 1", options_.index_base);
    const bool has_classes = !options_.class_names.empty();
    streams_ = {
        {options_.features, DType::f32, {options_.dim}, true, {}},
        {options_.label, has_classes ? DType::i64 : DType::f32, {}, false, options_.class_names}};
  }

  const char* operation() const override { return "libsvm"; }
  const std::vector<StreamInfo>& streams() const override { return streams_; }

  bool is_sample(std::string_view row) const override {
    const size_t first = row.find_first_not_of(" \t");
    return first != std::string_view::npos && row[first] != '#';
  }

  // The shortest feature is "1:2 ".
  size_t loaded_bytes(size_t rows, size_t text_bytes) const override {
    return rows * 16 + text_bytes / 4 * (sizeof(float) + sizeof(int32_t));
  }

  void parse(const Row& row, const std::string& file, TableChunk& table) const override {
    Words words(row, file);
    put_label(words, table.dense_row(1));
    std::vector<Feature> features;
    while (!words.at_end()) {
      const std::string_view word = words.next();
      if (word.starts_with("qid:")) {
        check_query(words, word.substr(4), features.empty());
        continue;
      }
      features.push_back(parse_feature(words, word));
      if (features.size() > 1) check_order(words, features);
    }
    if (options_.sort) sort(words, features);
    for (const Feature& feature : features) table.push_sparse(0, feature.column, feature.value);
  }

 private:
  void put_label(Words& words, std::byte* to) const {
    const std::string_view word = words.next();
    if (options_.class_names.empty()) {
      const NumberFault fault = parse_number(word, DType::f32, to);
      if (fault != NumberFault::none)
        words.fail("expected a label, a number, found '{}' ({}); is it another format?",
                   shortened(word), describe(fault, DType::f32));
      return;
    }
    const auto found = std::ranges::find(options_.class_names, word);
    if (found == options_.class_names.end())
      words.fail("expected a label among the class names, found '{}'", shortened(word));
    const int64_t label = found - options_.class_names.begin();
    std::memcpy(to, &label, sizeof(label));
  }

  void check_query(const Words& words, std::string_view text, bool is_first) const {
    int64_t query;
    if (!is_first) words.fail("expected qid right after the label");
    if (parse_number(text, DType::i64, reinterpret_cast<std::byte*>(&query)) != NumberFault::none)
      words.fail("expected a whole number after 'qid:', found '{}'", shortened(text));
  }

  Feature parse_feature(Words& words, std::string_view word) const {
    const size_t colon = word.find(':');
    int64_t index;
    const auto fault = parse_number(word.substr(0, std::min(colon, word.size())), DType::i64,
                                    reinterpret_cast<std::byte*>(&index));
    if (colon == std::string_view::npos || fault == NumberFault::malformed)
      words.fail("expected index:value, found '{}'", shortened(word));
    if (fault != NumberFault::none || index < options_.index_base ||
        index - options_.index_base >= options_.dim) {
      words.fail("expected an index from {} to {}, found '{}'; check dim and index_base",
                 options_.index_base, options_.dim - 1 + options_.index_base,
                 word.substr(0, colon));
    }
    std::string_view text = word.substr(colon + 1);
    if (text.empty() && !words.at_end()) text = words.next();
    Feature feature{static_cast<int32_t>(index - options_.index_base), 0};
    const auto value_fault =
        parse_number(text, DType::f32, reinterpret_cast<std::byte*>(&feature.value));
    if (value_fault != NumberFault::none) {
      words.fail("expected a number as the value of index {}, found '{}' ({})", index,
                 shortened(text), describe(value_fault, DType::f32));
    }
    return feature;
  }

  void check_order(const Words& words, const std::vector<Feature>& features) const {
    const int64_t before = features[features.size() - 2].column + options_.index_base;
    const int64_t last = features.back().column + options_.index_base;
    if (last == before) words.fail("index {} comes twice", last);
    if (last < before && !options_.sort)
      words.fail("index {} comes after {}; set sort to allow it", last, before);
  }

  void sort(const Words& words, std::vector<Feature>& features) const {
    std::ranges::sort(features, {}, &Feature::column);
    const auto twice = std::ranges::adjacent_find(features, {}, &Feature::column);
    if (twice != features.end())
      words.fail("index {} comes twice in the row", twice->column + options_.index_base);
  }

  LIBSVMOptions options_;
  std::vector<StreamInfo> streams_;
};

void write_number(Writer& writer, float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  writer.write(std::string_view(text, static_cast<size_t>(end.ptr - text)));
}

}  // namespace

std::unique_ptr<Deserializer> make_libsvm(std::unique_ptr<ByteSource> source,
                                          LIBSVMOptions options) {
  const int64_t max_errors = options.max_errors;
  auto format = std::make_unique<LibsvmFormat>(std::move(options));
  const RowCorpus::Start start{start_of_text("libsvm", *source), 1};
  return std::make_unique<RowCorpus>(std::move(source), std::move(format), start, max_errors);
}

LIBSVMDeserializer::LIBSVMDeserializer(const std::string& path, LIBSVMOptions options) {
  inner_ = make_libsvm(open_source(path), std::move(options));
}

void write_libsvm_row(Writer& writer, float label, std::span<const int32_t> columns,
                      std::span<const float> values, int64_t index_base) {
  if (columns.size() != values.size())
    fail_invalid("libsvm: {} columns and {} values", columns.size(), values.size());
  write_number(writer, label);
  for (size_t i = 0; i < columns.size(); ++i) {
    writer.write(fmt::format(" {}:", columns[i] + index_base));
    write_number(writer, values[i]);
  }
  writer.write("\n");
}

}  // namespace thalweg::data
