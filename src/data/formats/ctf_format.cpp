// CTF's row in the table of formats, and writing it.

#include <algorithm>
#include <set>
#include <type_traits>

#include <fmt/format.h>

#include <thalweg/base/writer.h>
#include <thalweg/data/ctf.h>
#include <thalweg/tensor/dtype.h>

#include "base/fail.h"
#include "data/formats/ctf_guess.h"
#include "data/formats/format_rows.h"

namespace thalweg::data {
namespace {

using Options = std::map<std::string, std::string>;

bool flag(const Options& options, const std::string& name, bool otherwise) {
  const auto at = options.find(name);
  if (at == options.end()) return otherwise;
  if (at->second != "true" && at->second != "false")
    fail_invalid("ctf: option {} cannot be '{}'; expected true or false", name, at->second);
  return at->second == "true";
}

class CtfWriter final : public SequenceWriter {
 public:
  CtfWriter(const std::string& path, const WriteOptions& options)
      : file_(path), streams_(options.streams), has_ids_(flag(options.more, "ids", true)) {
    if (options.key_kind == KeyKind::text && has_ids_)
      fail_invalid("ctf: sequence ids are numbers; these keys are texts");
    for (const StreamInfo& stream : streams_) {
      if (std::ranges::find(stream.shape, -1) != stream.shape.end())
        fail_invalid("ctf: stream '{}' has samples of several sizes, {}", stream.name,
                     to_string(stream.shape));
      if (stream.name.find_first_of(" \t|\n\r") != stream.name.npos || stream.name.empty() ||
          stream.name[0] == '#')
        fail_invalid("ctf: '{}' cannot be a field", stream.name);
    }
  }

  void write(const SequenceKey& key, std::span<const StreamValues> values) override {
    int64_t rows = 0;
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (values[i].samples < 1) {
        fail_invalid(
            "ctf: every sequence has to have a sample of every stream; '{}' of {} has none",
            streams_[i].name, to_string(key));
      }
      rows = std::max(rows, values[i].samples);
    }
    check_rows(key, rows);
    for (int64_t row = 0; row < rows; ++row) {
      if (has_ids_) fmt::format_to(out(), "{}", std::get<uint64_t>(key));
      for (size_t i = 0; i < streams_.size(); ++i)
        if (row < values[i].samples) add_sample(streams_[i], values[i], row);
      text_ += '\n';
    }
    if (text_.size() >= kPiece) flush();
  }

  void commit() override {
    flush();
    file_.commit();
  }

 private:
  static constexpr size_t kPiece = 1 << 20;

  void check_rows(const SequenceKey& key, int64_t rows) {
    if (!has_ids_ && rows > 1)
      fail_invalid("ctf: without ids every sequence is a row; {} has {} samples", to_string(key),
                   rows);
    if (has_ids_ && key == previous_)
      fail_invalid("ctf: two sequences that follow each other have the id {}", to_string(key));
    previous_ = key;
  }

  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  void flush() {
    file_.write(text_);
    text_.clear();
  }

  void add_sample(const StreamInfo& stream, const StreamValues& values, int64_t sample) {
    text_ += text_.empty() || text_.back() == '\n' ? "|" : " |";
    text_ += stream.name;
    visit_dtype(stream.dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto* data = static_cast<const T*>(values.values);
      if (stream.sparse) {
        for (int64_t i = values.row_starts[sample]; i < values.row_starts[sample + 1]; ++i) {
          fmt::format_to(out(), " {}:", values.columns[i]);
          add_number(stream, data[i]);
        }
      } else {
        const int64_t dim = element_count(stream.shape);
        for (int64_t i = sample * dim; i < (sample + 1) * dim; ++i) {
          text_ += ' ';
          add_number(stream, data[i]);
        }
      }
    });
  }

  // With as many digits as it takes to read the same number back.
  template <typename T>
  void add_number(const StreamInfo& stream, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (value - value != 0)
        fail_invalid("ctf: numbers have to be finite; stream '{}' has {}", stream.name, value);
      fmt::format_to(out(), "{}", value);
    } else if constexpr (std::is_same_v<T, bool>) {
      text_ += value ? '1' : '0';
    } else if constexpr (std::is_integral_v<T>) {
      fmt::format_to(out(), "{}", static_cast<int64_t>(value));
    } else {
      add_number(stream, static_cast<float>(value));
    }
  }

  AtomicFile file_;
  std::vector<StreamInfo> streams_;
  bool has_ids_;
  SequenceKey previous_ = std::string("none");
  std::string text_;
};

std::shared_ptr<Deserializer> open(const std::string& path, const FormatOptions& options) {
  std::vector<CtfStream> streams;
  for (const StreamSpec& spec : options.streams) {
    CtfStream& stream = streams.emplace_back();
    stream = {
        spec.name,           spec.field, spec.dim(), spec.sparse, spec.dtype.value_or(DType::f32),
        spec.counts_samples, {}};
    if (spec.shape.size() > 1) stream.shape = spec.shape;
  }
  CtfOptions ctf;
  ctf.compat = options.compat;
  ctf.max_errors = options.max_errors;
  ctf.skip_sequence_ids = flag(options.more, "skip_sequence_ids", false);
  ctf.single_sequences = flag(options.more, "single_sequences", false);
  ctf.index = options.keep_index ? IndexFile::always : IndexFile::automatic;
  ctf.index_folder = options.index_folder;
  return std::make_shared<CTFDeserializer>(path, std::move(streams), ctf);
}

std::unique_ptr<SequenceWriter> create(const std::string& path, const WriteOptions& options) {
  return std::make_unique<CtfWriter>(path, options);
}

}  // namespace

Format ctf_format() {
  Format format;
  format.name = "ctf";
  format.doc = "CNTK Text Format: rows of `|field values`, dense or index:value";
  format.extensions = {".ctf"};
  format.options = {{"skip_sequence_ids", "true: every row is a sequence, whatever id it has"},
                    {"single_sequences",
                     "true: sequences are read one by one where all are shuffled and do not fit"}};
  format.write_options = {{"ids", "false: rows without ids, every sequence having one"}};
  format.needs_streams = true;
  format.joins_files = true;
  format.guess_streams = guess_ctf_streams;
  format.open = open;
  format.create = create;
  return format;
}

}  // namespace thalweg::data
