#include "cli/data_file.h"

#include <fmt/ranges.h>

#include "base/fail.h"

namespace thalweg::cli {

std::map<std::string, std::string> parse_pairs(const char* option,
                                               const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> map;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == pair.npos || equals == 0)
      fail_invalid("usage: {} {}; expected KEY=VALUE", option, pair);
    map[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return map;
}

data::FormatOptions to_format_options(const DataFileOptions& options) {
  data::FormatOptions result;
  for (const std::string& stream : options.streams)
    result.streams.push_back(data::parse_stream_spec(stream));
  result.compat = options.compat;
  result.max_errors = options.max_errors;
  result.more = parse_pairs("--option", options.options);
  return result;
}

std::string format_help() {
  std::string text = "The files' format, by the extension else: ";
  for (const data::Format& format : data::formats())
    text += std::string(&format == data::formats().data() ? "" : ", ") + format.name;
  return text;
}

std::string format_table() {
  std::string text = "Formats, their endings and options (--option KEY=VALUE):\n";
  for (const data::Format& format : data::formats()) {
    text +=
        fmt::format("  {} ({}): {}\n", format.name, fmt::join(format.extensions, " "), format.doc);
    for (const data::FormatOption& option : format.options)
      text += fmt::format("      {:<14} {}\n", option.name, option.doc);
    for (const data::FormatOption& option : format.write_options)
      text += fmt::format("      {:<14} {} (--to-option)\n", option.name, option.doc);
  }
  return text;
}

bool read_sequence(const data::Deserializer& corpus, const data::Chunk& chunk, int64_t number,
                   int64_t sequence, std::vector<data::StreamValues>& values) {
  if (chunk.length(sequence) == data::Chunk::kDropped) return false;
  values.clear();
  for (size_t i = 0; i < corpus.streams().size(); ++i) {
    values.push_back(chunk.read(sequence, i, {.sequence = number}));
    if (values.back().samples < 0) return false;
  }
  return true;
}

void check_problems(const data::ReadProblems& problems, int64_t max_errors) {
  if (problems.errors <= max_errors) return;
  const std::string first = problems.messages.empty() ? "" : problems.messages.front();
  if (max_errors == 0) fail_io("{}", first);
  fail_io("{}; {} bad records, and --max-errors allows {}", first, problems.errors, max_errors);
}

}  // namespace thalweg::cli
