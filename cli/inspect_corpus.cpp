// Checks a whole data file of any format of the table.

#include "cli/inspect_corpus.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include <thalweg/base/error.h>
#include <thalweg/base/log.h>
#include <thalweg/tensor/dtype.h>

#include "cli/data_file.h"
#include "cli/progress_bar.h"

namespace thalweg::cli {
namespace {

using Json = nlohmann::ordered_json;
using data::StreamInfo;
using data::StreamValues;

// A sum whose rounding errors are summed, too (Neumaier 1974).
class ExactSum {
 public:
  void add(double value) {
    const double sum = sum_ + value;
    rest_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return rest_ == rest_ ? sum_ + rest_ : sum_; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

struct StreamTotal {
  int64_t samples = 0;
  int64_t values = 0;
  ExactSum sum;
};

struct CorpusTotal {
  int64_t sequences = 0;
  int64_t samples = 0;
  int64_t longest = 0;
  std::vector<StreamTotal> streams;
};

void add(StreamTotal& total, const StreamInfo& info, const StreamValues& values) {
  if (values.samples == 0) return;
  Shape shape = info.shape;
  if (std::ranges::find(shape, -1) != shape.end()) shape = values.shape;
  const int64_t begin = info.sparse ? values.row_starts[0] : 0;
  const int64_t end =
      info.sparse ? values.row_starts[values.samples] : values.samples * element_count(shape);
  total.samples += values.samples;
  total.values += end - begin;
  visit_dtype(info.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto* data = static_cast<const T*>(values.values);
    for (int64_t i = begin; i < end; ++i) total.sum.add(static_cast<double>(data[i]));
  });
}

// `indexed`: samples are what the index counts, as in CNTK, not what could be read.
void read_all(const data::Deserializer& corpus, bool indexed, CorpusTotal& total) {
  ProgressBar progress(corpus.name());
  std::vector<StreamValues> values;
  int64_t number = 0;
  for (int64_t c = 0; corpus.has_chunk(c); ++c) {
    progress.update(c, corpus.chunks());
    const data::ChunkInfo info = corpus.chunk(c);
    const auto chunk = corpus.load(c);
    if (indexed) total.samples += info.samples;
    for (int64_t s = 0; s < info.sequences; ++s, ++number) {
      if (!read_sequence(corpus, *chunk, number, s, values)) continue;
      ++total.sequences;
      total.longest = std::max(total.longest, chunk->length(s));
      if (!indexed) total.samples += chunk->length(s);
      for (size_t i = 0; i < values.size(); ++i)
        add(total.streams[i], corpus.streams()[i], values[i]);
    }
  }
}

Json to_json(const data::Deserializer& corpus, const CorpusTotal& total,
             const data::ReadProblems& problems) {
  Json streams = Json::object();
  for (size_t i = 0; i < total.streams.size(); ++i) {
    const StreamTotal& stream = total.streams[i];
    streams[corpus.streams()[i].name] = {
        {"samples", stream.samples}, {"values", stream.values}, {"sum", stream.sum.value()}};
  }
  return {{"sequences", total.sequences},  {"samples", total.samples},
          {"max_length", total.longest},   {"errors", problems.errors},
          {"warnings", problems.warnings}, {"streams", std::move(streams)},
          {"messages", problems.messages}};
}

}  // namespace

bool is_corpus(const std::string& path, const DataFileOptions& options) {
  if (!options.format.empty() || !options.streams.empty()) return true;
  try {
    data::find_format(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

Json describe_corpus(const std::string& path, const DataFileOptions& options,
                     std::string& failure) {
  const data::Format& format = data::find_format(path, options.format);
  data::FormatOptions how = to_format_options(options);
  // All that is wrong is counted, and judged in the end.
  how.max_errors = std::numeric_limits<int64_t>::max();
  for (data::StreamSpec& stream : how.streams)
    if (format.needs_streams && !stream.dtype) stream.dtype = DType::f64;
  Json object = {{"file", path}, {"format", format.name}};
  // They are in the object.
  const int verbosity_before = verbosity();
  set_verbosity(verbosity_before - 1);
  try {
    const auto corpus = data::open_corpus(format, path, how);
    CorpusTotal total;
    total.streams.resize(corpus->streams().size());
    data::ReadProblems problems;
    try {
      read_all(*corpus, options.compat, total);
      problems = corpus->problems();
      check_problems(problems, options.max_errors);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::io) throw;
      problems = corpus->problems();
      failure = error.what();
    }
    object.update(to_json(*corpus, total, problems));
  } catch (...) {
    set_verbosity(verbosity_before);
    throw;
  }
  set_verbosity(verbosity_before);
  return object;
}

}  // namespace thalweg::cli
