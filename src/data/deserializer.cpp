#include <thalweg/data/deserializer.h>
#include <thalweg/data/sample_source.h>

#include "base/fail.h"

namespace thalweg::data {

std::string to_string(const SequenceKey& key) {
  const auto* number = std::get_if<uint64_t>(&key);
  return number ? fmt::format("{}", *number) : fmt::format("'{}'", std::get<std::string>(key));
}

Philox SequenceDraw::random(uint64_t stream) const {
  const SampleKey key{sequence, sweep};
  return Request{{&key, 1}, seed}.random(0, stream);
}

Philox ReadStep::random(const SequenceDraw& draw) const {
  const SampleKey key{draw.sequence, draw.sweep};
  return Request{{&key, 1}, derive_seed(draw.seed, group)}.random(0, stream);
}

SequenceKey Deserializer::key(int64_t chunk, int64_t sequence) const {
  fail_invalid("deserializer: {} has no keys; asked for that of sequence {} of chunk {}", name(),
               sequence, chunk);
}

}  // namespace thalweg::data
