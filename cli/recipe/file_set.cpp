// Data in files of any format: what a minibatch source reads.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <thalweg/base/env.h>
#include <thalweg/base/text.h>
#include <thalweg/data/format.h>

#include "base/fail.h"
#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

// As it stands or, if nothing is there, below $THALWEG_DATA.
std::string found(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::path(path).is_absolute() || fs::exists(path, ignored)) return path;
  const auto folder = env_string("THALWEG_DATA");
  if (!folder) return path;
  const std::string below = (fs::path(*folder) / path).string();
  const bool is_pattern = path.find_first_of("*?[") != std::string::npos;
  return is_pattern || fs::exists(below, ignored) ? below : path;
}

// The recipe's key is named before a reader is asked, which knows the path alone.
void require_there(const std::string& path, const std::string& file) {
  std::error_code ignored;
  if (file.find_first_of("*?[") != std::string::npos || std::filesystem::exists(file, ignored))
    return;
  const auto folder = env_string("THALWEG_DATA");
  fail(ErrorKind::unavailable,
       "data: there is no file {}, which the recipe's data.train or data.test names; looked here "
       "and "
       "in THALWEG_DATA ({}); the file is yours to bring: set THALWEG_DATA to its folder, or give "
       "--set data.train=FILE",
       path, folder ? *folder : "not set");
}

int64_t values_of(const std::vector<data::StreamInfo>& streams) {
  int64_t sum = 0;
  for (const data::StreamInfo& stream : streams) sum += element_count(stream.shape);
  return sum;
}

std::string names_of(const std::vector<data::StreamInfo>& streams) {
  std::vector<std::string> names;
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < std::min(streams.size(), kMost); ++i) names.push_back(streams[i].name);
  if (streams.size() > kMost) names.push_back("...");
  return fmt::format("{}", fmt::join(names, ", "));
}

// Of a table whose columns are streams: the label's column is one, all others are the data.
std::vector<data::StreamSpec> streams_of_table(const data::Deserializer& table,
                                               const std::string& label) {
  const std::vector<data::StreamInfo>& columns = table.streams();
  const auto found = std::ranges::find(columns, label, &data::StreamInfo::name);
  if (label.empty() || found == columns.end()) {
    fail_invalid(
        "data: {}; {} has the columns {}; name the label's, such as label = \"{}\", and all others "
        "go into the net, or say what is what: streams = [\"x=FIRST..LAST:dense:N\", "
        "\"y={}:dense:1\"]",
        label.empty() ? "which column is the label" : fmt::format("no column is '{}'", label),
        table.name(), names_of(columns), columns.back().name, columns.back().name);
  }
  const int64_t of_label = element_count(found->shape);
  const int64_t others = values_of(columns) - of_label;
  if (others == 0) fail_invalid("data: {} has no column but '{}'", table.name(), label);
  const bool is_vector = !found->shape.empty();
  const std::string field = is_vector ? fmt::format("{0}_0..{0}_{1}", label, of_label - 1) : label;
  return {{label == "data" ? "x" : "data", "*", false, {others}},
          {label, field, false, {of_label}}};
}

struct Files : DataSetPart {
  std::string format;
  std::string train;
  std::string test;
  std::vector<std::string> streams;
  std::string data;
  std::string label;
  std::string packing = "samples";
  std::vector<std::string> options;
  bool balance = false;
  bool compat = false;
  int64_t max_errors = 0;
  ByteSize memory{uint64_t{1} << 30};

  Fields fields() override {
    return {
        {"format", &format, "of the files, see `thalweg inspect --help`; empty: by their ending"},
        {"train", &train, "the file, folder or pattern to train on, also below THALWEG_DATA"},
        {"test", &test, "likewise to test on; empty: what is trained on"},
        {"streams", &streams,
         "what is in the files where they do not say: NAME=FIELD:KIND:SIZE, KIND being dense or "
         "sparse, such as features=F:dense:784"},
        {"data", &data, "the stream that goes into the net; empty: the first"},
        {"label", &label,
         "the stream that it is to give, of a table without streams the column, all others being "
         "data; empty: the first of the others"},
        one_of("packing", &packing,
               "samples: each by itself; padded: whole sequences, [N, T, ...], zeros behind them, "
               "and batch_size counts sequences",
               {"samples", "padded"}),
        {"options", &options, "of the format alone: NAME=VALUE"},
        {"balance", &balance,
         "draw all classes of the label equally often, with replacement, where data are shuffled"},
        {"compat", &compat, "read as the reader does that the format is from"},
        {"max_errors", &max_errors, "bad records that are dropped; one more is an error", 0},
        {"memory", &memory, "bytes of all that is held of the files", 65536},
    };
  }

  Splits load(uint64_t) const override {
    if (train.empty()) fail_invalid("recipe: data.train is empty; give the file to train on");
    return {corpus(train), corpus(test.empty() ? train : test)};
  }

 private:
  // Of one column each, and nobody says which is what.
  bool is_plain_table(const data::Format& row) const {
    const std::string_view name = row.name;
    return streams.empty() && data.empty() && (name == "csv" || name == "tsv");
  }

  Corpus corpus(const std::string& path) const {
    data::FormatOptions settings{.compat = compat, .max_errors = max_errors};
    for (const std::string& text : streams)
      settings.streams.push_back(data::parse_stream_spec(text));
    for (const std::string& text : options) {
      const size_t equals = text.find('=');
      if (equals == std::string::npos)
        fail_invalid("recipe: data.options has '{}'; expected NAME=VALUE", text);
      settings.more[text.substr(0, equals)] = text.substr(equals + 1);
    }
    const std::string file = found(path);
    require_there(path, file);
    const data::Format& row = data::find_format(file, format);
    if (is_plain_table(row)) {
      const auto table = data::open_corpus(row, file, settings);
      if (table->streams().size() != 2 || !label.empty())
        settings.streams = streams_of_table(*table, label);
    }
    const auto open = [file, settings, &row] {
      return data::DeserializerHandle(data::open_corpus(row, file, settings));
    };
    const data::DeserializerHandle first = open();
    return {open,  first->name(), first->streams(), data,
            label, memory.bytes,  balance,          packing == "padded"};
  }
};

}  // namespace

std::unique_ptr<Part> make_file_set() { return make_part<Files>(); }

}  // namespace thalweg::cli
