#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <thalweg/base/text.h>
#include <thalweg/data/format.h>

#include "base/fail.h"
#include "data/formats/format_rows.h"
#include "data/formats/joined_corpus.h"
#include "data/formats/paths.h"

namespace thalweg::data {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void fail_spec(std::string_view text, std::string_view why) {
  fail_invalid("stream: '{}': {}; expected [NAME=]FIELD:dense|sparse:DIM, such as F:dense:784",
               text, why);
}

Shape parse_dims(std::string_view text, std::string_view dims) {
  Shape shape;
  for (const std::string_view part : split(dims, 'x')) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (error != std::errc() || end != part.data() + part.size() || size < 1)
      fail_spec(text, fmt::format("'{}' is no number of values", dims));
    if (shape.size() == kMaxDims) fail_spec(text, "it has too many dimensions");
    shape.push_back(size);
  }
  return shape;
}

void add_word(StreamSpec& spec, std::string_view text, std::string_view word) {
  if (word == "counts") {
    spec.counts_samples = true;
    return;
  }
  try {
    spec.dtype = parse_dtype(word);
  } catch (const Error&) {
    fail_spec(text, fmt::format("'{}' is neither a dtype nor 'counts'", word));
  }
}

std::string extension_of(std::string_view path) {
  for (const std::string_view packed : {".gz", ".zst"})
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  const size_t dot = path.rfind('.');
  return dot == path.npos || path.find('/', dot) != path.npos ? "" : std::string(path.substr(dot));
}

std::string names_of_formats() {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) names.push_back(format.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void fail_without_streams(const Format& format, const std::string& path) {
  std::string hint = "name them, such as F:dense:784";
  const auto guessed =
      format.guess_streams == nullptr ? std::vector<StreamSpec>() : format.guess_streams(path);
  if (!guessed.empty()) hint = "it may have";
  for (const StreamSpec& spec : guessed) hint += " " + to_string(spec);
  fail_invalid("format: {} files do not say what streams they have; {}; {}", format.name, path,
               hint);
}

}  // namespace

int64_t StreamSpec::dim() const { return element_count(shape); }

StreamSpec parse_stream_spec(std::string_view text) {
  std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() < 3) fail_spec(text, "it has fewer than three parts");
  StreamSpec spec;
  const size_t equals = parts[0].find('=');
  spec.field = parts[0].substr(equals == parts[0].npos ? 0 : equals + 1);
  spec.name = equals == parts[0].npos ? spec.field : parts[0].substr(0, equals);
  if (spec.name.empty() || spec.field.empty()) fail_spec(text, "it has no name");
  if (parts[1] != "dense" && parts[1] != "sparse")
    fail_spec(text, fmt::format("'{}' is neither dense nor sparse", parts[1]));
  spec.sparse = parts[1] == "sparse";
  spec.shape = parse_dims(text, parts[2]);
  if (spec.sparse && spec.shape.size() != 1) fail_spec(text, "a sparse stream has one dimension");
  for (size_t i = 3; i < parts.size(); ++i) add_word(spec, text, parts[i]);
  return spec;
}

std::string to_string(const StreamSpec& spec) {
  std::string text = spec.name == spec.field ? "" : spec.name + "=";
  text += fmt::format("{}:{}:{}", spec.field, spec.sparse ? "sparse" : "dense",
                      fmt::join(spec.shape, "x"));
  if (spec.dtype) text += fmt::format(":{}", name(*spec.dtype));
  return text + (spec.counts_samples ? ":counts" : "");
}

std::span<const Format> formats() {
  static const std::vector<Format> rows = {
      ctf_format(),     cbf_format(),       csv_format(),          tsv_format(),
      libsvm_format(),  npy_format(),       npz_format(),          idx_format(),
      text_format(),    image_map_format(), image_folder_format(), base64_images_format(),
      recordio_format()};
  return rows;
}

[[noreturn]] static void fail_without_option(const Format& format, const std::string& key) {
  std::string names;
  std::vector<std::string_view> views;
  for (const FormatOption& option : format.options) {
    names += (names.empty() ? "" : ", ") + std::string(option.name);
    views.push_back(option.name);
  }
  fail_invalid("format: {} has no option '{}'{}; it has {}", format.name, key,
               did_you_mean(key, views), names.empty() ? "none" : names);
}

const Format& find_format(const std::string& path, const std::string& name) {
  const std::string extension = extension_of(path);
  for (const Format& format : formats()) {
    if (name.empty() ? std::ranges::find(format.extensions, extension) != format.extensions.end()
                     : name == format.name)
      return format;
  }
  if (name.empty()) {
    fail_invalid("format: '{}' does not tell the format of {}; name one of {}", extension, path,
                 names_of_formats());
  }
  std::vector<std::string_view> names;
  for (const Format& format : formats()) names.push_back(format.name);
  fail_invalid("format: there is no '{}'{}; there are {}", name, did_you_mean(name, names),
               names_of_formats());
}

std::shared_ptr<Deserializer> open_corpus(const Format& format, const std::string& path,
                                          const FormatOptions& options) {
  for (const auto& [key, value] : options.more) {
    if (std::ranges::none_of(format.options, [&](const auto& o) { return key == o.name; }))
      fail_without_option(format, key);
  }
  if (format.needs_streams && options.streams.empty()) fail_without_streams(format, path);
  if (format.joins_files) return format.open(path, options);
  std::vector<std::shared_ptr<Deserializer>> parts;
  for (const std::string& file : expand_path(path)) parts.push_back(format.open(file, options));
  if (parts.size() == 1) return parts[0];
  return std::make_shared<JoinedCorpus>(std::move(parts));
}

}  // namespace thalweg::data
