#include <algorithm>

#include <thalweg/base/philox.h>
#include <thalweg/data/sets.h>

#include "base/fail.h"
#include "data/array_source.h"

namespace thalweg::data {
namespace {

constexpr uint64_t kTagStream = 0x7A65;
constexpr int64_t kOpeners = 4, kClosers = 3, kPlain = kOpeners + kClosers + 1;  // first plain word

bool is_opener(int64_t word) { return word >= 1 && word <= kOpeners; }
bool is_closer(int64_t word) { return word > kOpeners && word < kPlain; }

int64_t draw_word(Philox& random, int64_t words) {
  const uint32_t kind = random.bounded(10);
  if (kind == 0) return 1 + random.bounded(static_cast<uint32_t>(kOpeners));
  if (kind == 1) return 1 + kOpeners + random.bounded(static_cast<uint32_t>(kClosers));
  return kPlain + random.bounded(static_cast<uint32_t>(words - kPlain + 1));
}

// `next` is 0 at the end; `opener` the last one before, or 0.
int64_t tag_of(int64_t word, int64_t next, int64_t opener) {
  if (is_opener(word)) return word - 1;
  if (is_closer(word)) return kOpeners;
  return is_closer(next) ? 8 : 5 + (word + opener) % 3;
}

void draw_sentence(Philox& random, const DrawnTagsOptions& o, int64_t* words, int64_t* tags) {
  const int64_t shortest = std::max<int64_t>(o.longest / 4, 1);
  const int64_t length = shortest + random.bounded(static_cast<uint32_t>(o.longest - shortest + 1));
  for (int64_t t = 0; t < o.longest; ++t) words[t] = t < length ? draw_word(random, o.words) : 0;
  int64_t opener = 0;
  for (int64_t t = 0; t < o.longest; ++t) {
    const int64_t next = t + 1 < length ? words[t + 1] : 0;
    tags[t] = t < length ? tag_of(words[t], next, opener) : -1;
    if (is_opener(words[t])) opener = words[t];
  }
}

}  // namespace

Dataset drawn_tags(DrawnTagsOptions options) {
  constexpr int64_t kMost = 1 << 20;
  if (options.samples < 0 || options.words < 10 || options.words > kMost || options.longest < 1 ||
      options.longest > kMost) {
    fail_invalid(
        "drawn_tags: {} sentences of at most {} of {} words; it takes at least 0, 1 and 10, and at "
        "most {} words",
        options.samples, options.longest, options.words, kMost);
  }
  const Shape shape{options.samples, options.longest};
  const Tensor words = Tensor::empty(shape, {.dtype = DType::i64});
  const Tensor tags = Tensor::empty(shape, {.dtype = DType::i64});
  int64_t *word = words.mutable_data<int64_t>(), *tag = tags.mutable_data<int64_t>();
  const uint64_t stream = kTagStream + (options.split == Split::test ? 1 : 0);
  for (int64_t i = 0; i < options.samples; ++i) {
    Philox random(derive_seed(options.seed, static_cast<uint64_t>(i), stream));
    draw_sentence(random, options, word + i * options.longest, tag + i * options.longest);
  }
  const std::vector<NamedTensor> fields = {{"data", words}, {"label", tags}};
  const std::vector<std::string> names = {"opener 1", "opener 2", "opener 3", "opener 4", "closer",
                                          "first",    "second",   "third",    "closed"};
  return Dataset(std::make_shared<ArraySource>("drawn tags", fields, names));
}

}  // namespace thalweg::data
