// Writes data files in another format, or their index.

#include <fmt/format.h>

#include <thalweg/base/text.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/convert_tokens.h"
#include "cli/data_file.h"
#include "cli/exit_code.h"
#include "cli/progress_bar.h"

namespace thalweg::cli {
namespace {

struct Written {
  int64_t sequences = 0;
  int64_t samples = 0;
};

data::SequenceKey key_of(const data::Deserializer& corpus, data::KeyKind kind, int64_t chunk,
                         int64_t sequence, int64_t number) {
  if (kind == data::KeyKind::position) return static_cast<uint64_t>(number);
  return corpus.key(chunk, sequence);
}

Written write_all(const data::Deserializer& corpus, data::KeyKind kind,
                  data::SequenceWriter& writer, const std::string& path) {
  ProgressBar progress(path);
  Written written;
  std::vector<data::StreamValues> values;
  int64_t number = 0;
  for (int64_t c = 0; corpus.has_chunk(c); ++c) {
    progress.update(c, corpus.chunks());
    const auto chunk = corpus.load(c);
    const int64_t sequences = corpus.chunk(c).sequences;
    for (int64_t s = 0; s < sequences; ++s, ++number) {
      if (!read_sequence(corpus, *chunk, number, s, values)) continue;
      writer.write(key_of(corpus, kind, c, s, number), values);
      ++written.sequences;
      written.samples += chunk->length(s);
    }
  }
  return written;
}

const data::Format& writable_format(const ConvertOptions& options) {
  const data::Format& format = data::find_format(options.to, options.to_format);
  if (format.create == nullptr) {
    std::vector<std::string> names;
    for (const data::Format& other : data::formats())
      if (other.create != nullptr) names.push_back(other.name);
    fail_invalid("convert: {} cannot be written; {} can", format.name, fmt::join(names, ", "));
  }
  return format;
}

data::WriteOptions write_options(const data::Format& format, const ConvertOptions& options,
                                 const data::Deserializer& corpus, data::KeyKind kind) {
  data::WriteOptions result{corpus.streams(), kind, parse_pairs("--to-option", options.to_options)};
  for (const auto& [key, value] : result.more) {
    bool is_known = false;
    for (const data::FormatOption& known : format.write_options) is_known |= key == known.name;
    if (!is_known) fail_invalid("convert: {} has no option '{}' for writing", format.name, key);
  }
  return result;
}

int run(const ConvertOptions& options) {
  const data::Format& from = data::find_format(options.from, options.data.format);
  data::FormatOptions how = to_format_options(options.data);
  how.keep_index = options.index;
  const auto corpus = data::open_corpus(from, options.from, how);
  if (options.to.empty()) {
    fmt::print("{}: {} chunks\n", options.from, corpus->chunks());
    return kExitOk;
  }
  const data::Format& to = writable_format(options);
  data::KeyKind kind = corpus->key_kind();
  if (!to.holds_keys && kind != data::KeyKind::position) {
    fmt::print(stderr, "thalweg: {} has no keys; sequences are numbered in their order\n", to.name);
    kind = data::KeyKind::position;
  }
  const auto writer = to.create(options.to, write_options(to, options, *corpus, kind));
  const Written written = write_all(*corpus, kind, *writer, options.to);
  writer->commit();
  const data::ReadProblems problems = corpus->problems();
  fmt::print("{}: {} sequences, {} samples", options.to, written.sequences, written.samples);
  if (problems.errors > 0) fmt::print("; {} bad records were left out", problems.errors);
  fmt::print("\n");
  return kExitOk;
}

}  // namespace

int run_convert(const ConvertOptions& options) {
  if (options.to.empty() && !options.index)
    fail_invalid("usage: TO is required, or --index; see thalweg convert --help");
  if (options.to == options.from) fail_invalid("usage: FROM and TO are the same file");
  if (options.dictionaries.empty()) return run(options);
  convert_tokens(options);
  return kExitOk;
}

}  // namespace thalweg::cli
