// The rows of CSV and TSV in the table of formats, and writing them.

#include <algorithm>

#include <thalweg/base/writer.h>
#include <thalweg/data/csv.h>

#include "base/fail.h"
#include "data/formats/csv_fields.h"
#include "data/formats/format_rows.h"
#include "data/formats/format_values.h"

namespace thalweg::data {
namespace {

class CsvWriter final : public SequenceWriter {
 public:
  CsvWriter(const std::string& path, const WriteOptions& options, char delimiter)
      : file_(path), streams_(options.streams), delimiter_(delimiter) {
    require_dense("csv", streams_);
    const OptionValues values("csv", options.more);
    key_ = values.text("key", options.key_kind == KeyKind::position ? "" : "key");
    if (!key_.empty()) add_field(csv_field(key_, delimiter_));
    for (const StreamInfo& stream : streams_) {
      const int64_t n = element_count(stream.shape);
      for (int64_t i = 0; i < n; ++i)
        add_field(
            csv_field(n == 1 ? stream.name : fmt::format("{}_{}", stream.name, i), delimiter_));
    }
    end_row();
  }

  void write(const SequenceKey& key, std::span<const StreamValues> values) override {
    const int64_t samples = values[0].samples;
    for (const StreamValues& stream : values) {
      if (stream.samples != samples) {
        fail_invalid("csv: the streams of a sequence have as many samples; {} has {} and {}",
                     to_string(key), samples, stream.samples);
      }
    }
    if (samples != 1 && key_.empty()) {
      fail_invalid("csv: sequences of several samples need a key; {} has {}; set key=NAME",
                   to_string(key), samples);
    }
    for (int64_t sample = 0; sample < samples; ++sample) {
      if (!key_.empty()) add_key(key);
      for (size_t s = 0; s < streams_.size(); ++s) {
        const int64_t n = element_count(streams_[s].shape);
        for (int64_t i = sample * n; i < (sample + 1) * n; ++i) {
          if (!is_first_) row_ += delimiter_;
          is_first_ = false;
          append_number(row_, streams_[s].dtype, values[s].values, i);
        }
      }
      end_row();
    }
  }

  void commit() override { file_.commit(); }

 private:
  void add_key(const SequenceKey& key) {
    const auto* text = std::get_if<std::string>(&key);
    add_field(text ? csv_field(*text, delimiter_) : std::to_string(std::get<uint64_t>(key)));
  }
  void add_field(const std::string& field) {
    if (!is_first_) row_ += delimiter_;
    is_first_ = false;
    row_ += field;
  }
  void end_row() {
    row_ += '\n';
    file_.write(row_);
    row_.clear();
    is_first_ = true;
  }

  AtomicFile file_;
  std::vector<StreamInfo> streams_;
  char delimiter_;
  std::string key_;  // the name of its column; "": none
  std::string row_;
  bool is_first_ = true;
};

std::vector<std::string> columns_of(const StreamSpec& spec) {
  std::vector<std::string> columns;
  for (size_t at = 0; at <= spec.field.size();) {
    const size_t end = std::min(spec.field.find(',', at), spec.field.size());
    columns.push_back(spec.field.substr(at, end - at));
    at = end + 1;
  }
  return columns;
}

std::shared_ptr<Deserializer> open_with(const std::string& path, const FormatOptions& options,
                                        char delimiter) {
  const OptionValues values("csv", options.more);
  CSVOptions csv;
  csv.delimiter = values.character("delimiter", delimiter);
  csv.decimal = values.character("decimal", '.');
  csv.header = values.flag("header", true);
  csv.key = values.text("key");
  csv.missing_texts = values.list("missing_texts");
  csv.max_errors = options.max_errors;
  std::vector<CSVStream> streams;
  const std::string class_stream = values.text("class_stream");
  for (const StreamSpec& spec : options.streams) {
    if (spec.sparse) fail_invalid("csv: stream '{}' cannot be sparse", spec.name);
    CSVStream& stream = streams.emplace_back();
    stream.name = spec.name;
    stream.columns = columns_of(spec);
    stream.dtype = spec.dtype.value_or(DType::f32);
    stream.missing = values.real("missing");
    if (spec.name == class_stream) stream.class_names = values.list("classes");
  }
  auto corpus = std::make_shared<CSVDeserializer>(path, streams, csv);
  for (size_t i = 0; i < streams.size(); ++i) {
    const int64_t found = element_count(corpus->streams()[i].shape);
    if (found != options.streams[i].dim()) {
      fail_invalid("csv: stream '{}' has {} columns, not as {} says", streams[i].name, found,
                   to_string(options.streams[i]));
    }
  }
  return corpus;
}

std::shared_ptr<Deserializer> open_csv(const std::string& path, const FormatOptions& options) {
  return open_with(path, options, ',');
}
std::shared_ptr<Deserializer> open_tsv(const std::string& path, const FormatOptions& options) {
  return open_with(path, options, '\t');
}
std::unique_ptr<SequenceWriter> create_csv(const std::string& path, const WriteOptions& options) {
  return std::make_unique<CsvWriter>(path, options, ',');
}
std::unique_ptr<SequenceWriter> create_tsv(const std::string& path, const WriteOptions& options) {
  return std::make_unique<CsvWriter>(path, options, '\t');
}

Format common() {
  Format format;
  format.options = {
      {"header", "false: the first row is a sample, and columns are numbered from 0"},
      {"delimiter", "the character between fields, or tab"},
      {"decimal", "the sign before a fraction"},
      {"missing", "what missing values become; else they are errors"},
      {"missing_texts", "texts between commas that stand for a missing value"},
      {"key", "the column of the sequences' keys"},
      {"class_stream", "the stream whose texts are classes"},
      {"classes", "the texts that stand for 0, 1, ..., between commas"},
  };
  format.write_options = {{"key", "a first column of this name with the keys"}};
  return format;
}

}  // namespace

Format csv_format() {
  Format format = common();
  format.name = "csv";
  format.doc =
      "comma-separated values; the FIELD of a stream is COLUMN, FIRST..LAST, or * for the rest";
  format.extensions = {".csv"};
  format.open = open_csv;
  format.create = create_csv;
  return format;
}

Format tsv_format() {
  Format format = common();
  format.name = "tsv";
  format.doc = "tab-separated values, else as csv";
  format.extensions = {".tsv"};
  format.open = open_tsv;
  format.create = create_tsv;
  return format;
}

}  // namespace thalweg::data
