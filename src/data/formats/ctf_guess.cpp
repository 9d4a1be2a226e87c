#include "data/formats/ctf_guess.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "data/formats/byte_source.h"
#include "data/formats/paths.h"

namespace thalweg::data {
namespace {

constexpr size_t kLooked = 1 << 20;

struct Guess {
  bool sparse = false;
  int64_t dim = 1;
};

// What stands before `from`'s first blank, which goes with it.
std::string_view take_word(std::string_view& from) {
  const size_t begin = std::min(from.find_first_not_of(" \t\r"), from.size());
  from.remove_prefix(begin);
  const std::string_view word = from.substr(0, from.find_first_of(" \t\r"));
  from.remove_prefix(word.size());
  return word;
}

void add_sample(std::string_view values, Guess& guess) {
  int64_t count = 0;
  for (std::string_view word = take_word(values); !word.empty(); word = take_word(values)) {
    const size_t colon = word.find(':');
    int64_t index = 0;
    if (colon != word.npos &&
        std::from_chars(word.data(), word.data() + colon, index).ptr == word.data() + colon) {
      guess.sparse = true;
      guess.dim = std::max(guess.dim, index + 1);
    }
    ++count;
  }
  if (!guess.sparse) guess.dim = std::max(guess.dim, count);
}

}  // namespace

std::vector<StreamSpec> guess_ctf_streams(const std::string& path) {
  const auto source = open_source(expand_path(path).front());
  std::string text(kLooked, '\0');
  text.resize(source->read_some_at(0, std::as_writable_bytes(std::span(text))));
  std::map<std::string, Guess> guesses;
  // A row that is cut off would mislead, unless there is no other.
  std::string_view rest = text;
  if (text.size() == kLooked && rest.rfind('\n') != rest.npos)
    rest = rest.substr(0, rest.rfind('\n'));
  for (size_t at = rest.find('|'); at != rest.npos; at = rest.find('|')) {
    rest.remove_prefix(at + 1);
    std::string_view sample = rest.substr(0, rest.find_first_of("|\n"));
    if (sample.starts_with('#')) continue;
    const std::string_view field = take_word(sample);
    if (!field.empty()) add_sample(sample, guesses[std::string(field)]);
  }
  std::vector<StreamSpec> specs;
  for (const auto& [field, guess] : guesses)
    specs.push_back({field, field, guess.sparse, {guess.dim}, {}, false});
  return specs;
}

}  // namespace thalweg::data
