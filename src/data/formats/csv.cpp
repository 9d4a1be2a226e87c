#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include <thalweg/base/text.h>
#include <thalweg/data/csv.h>

#include "base/fail.h"
#include "data/formats/csv_fields.h"
#include "data/formats/make.h"
#include "data/formats/numbers.h"
#include "data/formats/row_corpus.h"

namespace thalweg::data {
namespace {

// The columns of the file, known by name.
class Columns {
 public:
  Columns(std::vector<std::string> names, std::string file)
      : names_(std::move(names)), file_(std::move(file)) {}

  size_t size() const { return names_.size(); }
  const std::string& operator[](size_t i) const { return names_[i]; }

  size_t find(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) {
      const std::vector<std::string_view> views(names_.begin(), names_.end());
      fail_invalid("csv: no column is called '{}'; {} has {} columns: {}{}", name, file_, size(),
                   shortened(fmt::format("{}", fmt::join(names_, ", "))),
                   did_you_mean(name, views));
    }
    if (std::find(found + 1, names_.end(), name) != names_.end())
      fail_invalid("csv: two columns are called '{}'; {}", name, file_);
    return static_cast<size_t>(found - names_.begin());
  }

  // Those that one entry of CSVStream::columns means, but for "*".
  std::vector<size_t> select(const std::string& entry) const {
    const size_t dots = entry.find("..");
    if (dots == std::string::npos || std::ranges::count(names_, entry) > 0) return {find(entry)};
    const size_t first = find(entry.substr(0, dots));
    const size_t last = find(entry.substr(dots + 2));
    if (first > last)
      fail_invalid("csv: column range '{}' ends before it begins; {}", entry, file_);
    std::vector<size_t> columns;
    for (size_t i = first; i <= last; ++i) columns.push_back(i);
    return columns;
  }

 private:
  std::vector<std::string> names_;
  std::string file_;
};

struct StreamPlan {
  std::vector<size_t> columns;
  DType dtype = DType::f32;
  bool may_miss = false;
  std::byte missing[8] = {};
  std::unordered_map<std::string_view, int64_t> classes;  // views of the StreamInfo's names
};

void put_missing(const CSVStream& stream, StreamPlan& plan) {
  if (!stream.missing) return;
  plan.may_miss = true;
  const double value = *stream.missing;
  visit_dtype(plan.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      constexpr double kLimit = static_cast<double>(std::numeric_limits<T>::max()) + 1;
      const bool fits = value > -kLimit - 1 && value < kLimit && value == std::trunc(value);
      if (!fits || (std::is_unsigned_v<T> && value < 0)) {
        fail_invalid("csv: missing values of stream '{}' cannot become {}; it is {}", stream.name,
                     value, name(plan.dtype));
      }
    }
    T stored;
    if constexpr (std::is_arithmetic_v<T>)
      stored = static_cast<T>(value);
    else
      stored = T(static_cast<float>(value));
    std::memcpy(plan.missing, &stored, sizeof(T));
  });
}

class CsvFormat final : public RowFormat {
 public:
  CsvFormat(std::vector<CSVStream> streams, CSVOptions options, Columns columns)
      : options_(std::move(options)), columns_(std::move(columns)) {
    if (streams.empty()) {
      const bool has_key = options_.key.empty() && columns_.size() > 1 && columns_[0] == "key";
      if (has_key) options_.key = "key";
      streams = streams_of_columns();
    }
    if (!options_.key.empty()) {
      key_column_ = columns_.find(options_.key);
      used_.push_back(*key_column_);
    }
    std::vector<std::vector<size_t>> named;
    for (const CSVStream& stream : streams) named.push_back(named_columns(stream));
    for (size_t i = 0; i < streams.size(); ++i) add_stream(streams[i], std::move(named[i]));
  }

  const char* operation() const override { return "csv"; }
  const char* no_rows() const override {
    return "; a first row that is a sample, and no header, needs the option header=false";
  }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  size_t row_end(std::string_view text, size_t at) const override {
    return csv_row_end(text, at, options_.delimiter);
  }
  bool is_sample(std::string_view row) const override { return !row.empty(); }
  KeyKind key_kind() const override { return key_column_ ? KeyKind::text : KeyKind::position; }

  SequenceKey key(const Row& row, const std::string& file) const override {
    CsvSplitter splitter(options_.delimiter);
    const std::string where = fmt::format("{}:{}", file, row.line);
    const auto& fields = splitter.split(row.text, where);
    if (fields.size() <= *key_column_) {
      fail_io("csv: a row has no key; {}: expected '{}' in field {}, found {} fields", where,
              options_.key, *key_column_ + 1, fields.size());
    }
    return std::string(fields[*key_column_].text);
  }

  size_t loaded_bytes(size_t rows, size_t) const override { return rows * row_bytes_; }

  void parse(const Row& row, const std::string& file, TableChunk& table) const override {
    CsvSplitter splitter(options_.delimiter);
    const std::string where = fmt::format("{}:{}", file, row.line);
    const auto& fields = splitter.split(row.text, where);
    if (fields.size() != columns_.size()) {
      fail_io("csv: a row has another number of fields; {}: expected {}, found {}", where,
              columns_.size(), fields.size());
    }
    for (size_t s = 0; s < plans_.size(); ++s) {
      std::byte* to = table.dense_row(s);
      for (size_t column : plans_[s].columns) {
        put(plans_[s], fields[column], where, column, to);
        to += item_size(plans_[s].dtype);
      }
    }
  }

 private:
  // Columns NAME_0, NAME_1, ... that follow each other are one stream, others one each.
  std::vector<CSVStream> streams_of_columns() const {
    std::vector<CSVStream> streams;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == options_.key) continue;
      CSVStream stream{columns_[i], {columns_[i]}};
      stream.missing = std::numeric_limits<double>::quiet_NaN();
      if (columns_[i].ends_with("_0")) {
        stream.name.erase(stream.name.size() - 2);
        for (size_t n = 1;
             i + 1 < columns_.size() && columns_[i + 1] == fmt::format("{}_{}", stream.name, n);
             ++n)
          stream.columns.push_back(columns_[++i]);
      }
      streams.push_back(std::move(stream));
    }
    return streams;
  }

  std::vector<size_t> named_columns(const CSVStream& stream) {
    std::vector<size_t> columns;
    for (const std::string& entry : stream.columns)
      if (entry != "*")
        for (size_t column : columns_.select(entry)) columns.push_back(column);
    if (stream.columns.empty()) columns.push_back(columns_.find(stream.name));
    used_.insert(used_.end(), columns.begin(), columns.end());
    return columns;
  }

  void add_stream(const CSVStream& stream, std::vector<size_t> columns) {
    if (std::ranges::count(stream.columns, "*") > 0) {
      for (size_t i = 0; i < columns_.size(); ++i)
        if (std::ranges::count(used_, i) == 0) columns.push_back(i);
    }
    if (columns.empty()) fail_invalid("csv: no column is left for stream '{}'", stream.name);
    const bool has_classes = !stream.class_names.empty();
    StreamPlan plan{std::move(columns), has_classes ? DType::i64 : stream.dtype, false, {}, {}};
    put_missing(stream, plan);
    StreamInfo info{stream.name, plan.dtype, {}, false, stream.class_names};
    const bool is_vector =
        plan.columns.size() > 1 || stream.columns == std::vector<std::string>{"*"};
    if (is_vector) info.shape.push_back(static_cast<int64_t>(plan.columns.size()));
    row_bytes_ += plan.columns.size() * item_size(plan.dtype);
    streams_.push_back(std::move(info));
    plans_.push_back(std::move(plan));
    class_names_.push_back(std::make_unique<std::vector<std::string>>(stream.class_names));
    for (size_t i = 0; i < stream.class_names.size(); ++i)
      plans_.back().classes.emplace((*class_names_.back())[i], static_cast<int64_t>(i));
  }

  bool is_missing(std::string_view text) const {
    return text.empty() || std::ranges::count(options_.missing_texts, text) > 0;
  }

  void put(const StreamPlan& plan, const CsvField& field, const std::string& where, size_t column,
           std::byte* to) const {
    const std::string_view text = trimmed(field.text);
    if (is_missing(text) && !(plan.classes.contains(text))) {
      if (!plan.may_miss) fail_field("is missing", field, where, column, name(plan.dtype));
      std::memcpy(to, plan.missing, item_size(plan.dtype));
    } else if (!plan.classes.empty()) {
      const auto found = plan.classes.find(text);
      if (found == plan.classes.end())
        fail_field("is no class", field, where, column, "one of the stream's class names");
      std::memcpy(to, &found->second, sizeof(int64_t));
    } else if (const NumberFault fault = parse_number(text, plan.dtype, to, options_.decimal);
               fault != NumberFault::none) {
      fail_field(fmt::format("is {}", describe(fault, plan.dtype)), field, where, column,
                 name(plan.dtype));
    }
  }

  [[noreturn]] void fail_field(std::string_view fault, const CsvField& field,
                               const std::string& where, size_t column,
                               std::string_view expected) const {
    fail_io("csv: field {} ('{}') {}; {}:{}: expected {}, found '{}'", column + 1, columns_[column],
            fault, where, field.place + 1, expected, shortened(field.text));
  }

  CSVOptions options_;
  Columns columns_;
  std::vector<StreamInfo> streams_;
  std::vector<StreamPlan> plans_;
  std::vector<std::unique_ptr<std::vector<std::string>>> class_names_;
  std::vector<size_t> used_;
  std::optional<size_t> key_column_;
  size_t row_bytes_ = 0;
};

// The first row that is not blank, and where the next begins.
std::string first_row(const ByteSource& source, char delimiter, RowCorpus::Start& next) {
  std::string text;
  size_t at = 0;
  for (size_t piece = size_t{1} << 16;; piece *= 2) {
    const size_t have = text.size();
    text.resize(have + piece);
    const size_t found = source.read_some_at(next.offset + have,
                                             std::as_writable_bytes(std::span(text).subspan(have)));
    text.resize(have + found);
    for (;;) {
      size_t end = csv_row_end(text, at, delimiter);
      const bool is_last = end == std::string::npos;
      if (is_last && found > 0) break;
      if (is_last) end = text.size();
      std::string row = text.substr(at, end - at);
      next.line += std::max<int64_t>(1, std::ranges::count(row, '\n'));
      at = end;
      while (row.ends_with('\n') || row.ends_with('\r')) row.pop_back();
      if (!row.empty() || is_last) {
        next.offset += at;
        if (row.empty()) fail_io("csv: the file has no rows; {}", source.name());
        return row;
      }
    }
  }
}

}  // namespace

std::unique_ptr<Deserializer> make_csv(std::unique_ptr<ByteSource> source,
                                       std::vector<CSVStream> streams, CSVOptions options) {
  const std::string path = source->name();
  const RowCorpus::Start start{start_of_text("csv", *source), 1};
  RowCorpus::Start after = start;
  CsvSplitter splitter(options.delimiter);
  std::vector<std::string> names;
  const std::string row = first_row(*source, options.delimiter, after);
  for (const CsvField& field : splitter.split(row, fmt::format("{}:{}", path, after.line - 1)))
    names.push_back(options.header ? std::string(trimmed(field.text))
                                   : std::to_string(names.size()));
  const RowCorpus::Start rows = options.header ? after : start;
  const int64_t max_errors = options.max_errors;
  auto format = std::make_unique<CsvFormat>(std::move(streams), std::move(options),
                                            Columns(std::move(names), path));
  return std::make_unique<RowCorpus>(std::move(source), std::move(format), rows, max_errors);
}

CSVDeserializer::CSVDeserializer(const std::string& path, std::vector<CSVStream> streams,
                                 CSVOptions options) {
  inner_ = make_csv(open_source(path), std::move(streams), std::move(options));
}

}  // namespace thalweg::data
