// The row of plain text in the table of formats.

#include <thalweg/data/text.h>

#include "base/fail.h"
#include "data/formats/format_rows.h"
#include "data/formats/format_values.h"

namespace thalweg::data {
namespace {

template <typename T>
T choose(const OptionValues& values, const std::string& name,
         std::initializer_list<std::pair<const char*, T>> choices) {
  const std::string text = values.text(name, choices.begin()->first);
  std::vector<std::string_view> names;
  for (const auto& [choice, value] : choices) {
    if (text == choice) return value;
    names.push_back(choice);
  }
  fail_invalid("text: option {} cannot be '{}'; expected {}", name, text, fmt::join(names, ", "));
}

std::shared_ptr<Deserializer> open(const std::string& path, const FormatOptions& options) {
  const OptionValues values("text", options.more);
  TextOptions text;
  text.block_bytes = values.number("block_bytes", 0);
  text.unit = text.block_bytes > 0 ? TextUnit::blocks : TextUnit::lines;
  text.tokens = choose<TextTokens>(values, "tokens",
                                   {{"bytes", TextTokens::bytes},
                                    {"characters", TextTokens::characters},
                                    {"words", TextTokens::words}});
  text.bad_utf8 = choose<BadUtf8>(
      values, "bad_utf8",
      {{"reject", BadUtf8::reject}, {"replace", BadUtf8::replace}, {"keep", BadUtf8::keep}});
  const std::string vocabulary = values.text("vocabulary");
  if (!vocabulary.empty()) text.vocabulary = read_vocabulary(vocabulary);
  text.unknown = values.text("unknown");
  text.max_errors = options.max_errors;
  return std::make_shared<TextDeserializer>(path, text);
}

}  // namespace

Format text_format() {
  Format format;
  format.name = "text";
  format.doc =
      "plain text: a stream of bytes, characters or words; a sequence is a line or a block";
  format.extensions = {".txt"};
  format.options = {{"tokens", "bytes, characters or words"},
                    {"block_bytes", "a sequence is so many bytes, not a line"},
                    {"bad_utf8", "reject, replace or keep"},
                    {"vocabulary", "a file with the words 0, 1, ... in its lines"},
                    {"unknown", "the word that others count as"}};
  format.holds_keys = false;
  format.open = open;
  return format;
}

}  // namespace thalweg::data
