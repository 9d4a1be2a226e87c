#include <array>

#include <thalweg/base/philox.h>
#include <thalweg/data/drawn_text.h>

#include "base/fail.h"
#include "data/array_source.h"

namespace thalweg::data {
namespace {

constexpr uint64_t kTextStream = 0x7E87;

constexpr const char* kNouns[] = {"cat",  "dog", "owl", "fox",  "horse",
                                  "bird", "hen", "bee", "frog", "goat"};
constexpr const char* kAdjectives[] = {"small", "old", "quick", "grey", "quiet", "young"};
constexpr const char* kVerbs[] = {"see", "follow", "hear", "like", "greet", "find"};
constexpr const char* kPlaces[] = {"in the barn", "by the river", "under the tree",
                                   "on the hill", "at the gate",  "in the garden"};
constexpr const char* kNumbers[] = {"no",      "one",     "two",       "three",    "four",
                                    "five",    "six",     "seven",     "eight",    "nine",
                                    "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                    "fifteen", "sixteen", "seventeen", "eighteen"};

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string sentence() {
    switch (random_.bounded(4)) {
      case 0:
        return sum();
      case 1:
        return question();
      default:
        return statement();
    }
  }

 private:
  template <size_t n>
  std::string any(const char* const (&words)[n]) {
    return words[random_.bounded(n)];
  }
  bool coin() { return random_.bounded(2) != 0; }

  // "the old fox", "three horses".
  std::string animals(bool plural) {
    std::string text = plural ? kNumbers[2 + random_.bounded(8)] : coin() ? "the" : "one";
    if (coin()) text += " " + any(kAdjectives);
    return text + " " + any(kNouns) + (plural ? "s" : "");
  }
  std::string statement() {
    const bool plural = coin();
    const std::string subject = animals(plural);
    return subject + " " + any(kVerbs) + (plural ? " " : "s ") + animals(coin()) + ".";
  }
  std::string sum() {
    const uint32_t a = 1 + random_.bounded(9), b = 1 + random_.bounded(9);
    return std::string(kNumbers[a]) + " and " + kNumbers[b] + " make " + kNumbers[a + b] + ".";
  }
  std::string question() {
    const std::string noun = any(kNouns), place = any(kPlaces);
    return "the " + noun + " is " + place + ". where is the " + noun + "? it is " + place + ".";
  }

  Philox random_;
};

}  // namespace

std::string drawn_text(const DrawnTextOptions& options) {
  if (options.bytes < 0) fail_invalid("drawn_text: {} bytes; at least 0", options.bytes);
  const auto split = static_cast<uint64_t>(options.split);
  std::string text;
  text.reserve(static_cast<size_t>(options.bytes) + 256);
  for (uint64_t i = 0; text.size() < static_cast<size_t>(options.bytes); ++i) {
    text += Writer(derive_seed(options.seed, i, kTextStream + split)).sentence();
    text += i % 4 == 3 ? '\n' : ' ';
  }
  return text;
}

Dataset text_windows(std::string name, std::string_view text, int64_t length) {
  if (length < 1) fail_invalid("text_windows: length {}; at least 1", length);
  const auto bytes = static_cast<int64_t>(text.size());
  const int64_t windows = bytes == 0 ? 0 : (bytes - 1) / length;
  if (windows == 0) {
    fail_invalid("text_windows: {} has {} bytes; a window of {} and the byte after it need {}",
                 name, bytes, length, length + 1);
  }
  const Tensor data = Tensor::empty({windows, length}, {DType::i64});
  const Tensor label = Tensor::empty({windows, length}, {DType::i64});
  int64_t *from = data.mutable_data<int64_t>(), *to = label.mutable_data<int64_t>();
  for (int64_t i = 0; i < windows * length; ++i) {
    from[i] = static_cast<uint8_t>(text[static_cast<size_t>(i)]);
    to[i] = static_cast<uint8_t>(text[static_cast<size_t>(i) + 1]);
  }
  const std::vector<NamedTensor> fields = {{"data", data}, {"label", label}};
  return Dataset(
      std::make_shared<ArraySource>(std::move(name), fields, std::vector<std::string>{}));
}

}  // namespace thalweg::data
