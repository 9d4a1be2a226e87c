#include <mutex>

#include <thalweg/base/random.h>

namespace thalweg {
namespace {

struct Source {
  std::mutex mutex;
  RandomState state;
};

Source& source() {
  static Source instance;
  return instance;
}

}  // namespace

void manual_seed(uint64_t seed) { set_default_random_state({.seed = seed, .offset = 0}); }

RandomState default_random_state() {
  std::lock_guard lock(source().mutex);
  return source().state;
}

void set_default_random_state(RandomState state) {
  std::lock_guard lock(source().mutex);
  source().state = state;
}

RandomState reserve_random(uint64_t blocks) {
  std::lock_guard lock(source().mutex);
  const RandomState first = source().state;
  source().state.offset += blocks;
  return first;
}

}  // namespace thalweg
