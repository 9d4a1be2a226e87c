#pragma once

#include <memory>
#include <string>
#include <vector>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// A deserializer that leaves all to another one, which its constructor makes. Copies share it.
class WrappedDeserializer : public Deserializer {
 public:
  std::string name() const override { return inner_->name(); }
  const std::vector<StreamInfo>& streams() const override { return inner_->streams(); }
  void limit_chunks(size_t bytes) override { inner_->limit_chunks(bytes); }
  bool has_chunk(int64_t chunk) const override { return inner_->has_chunk(chunk); }
  int64_t chunks() const override { return inner_->chunks(); }
  ChunkInfo chunk(int64_t chunk) const override { return inner_->chunk(chunk); }
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted = {}) const override {
    return inner_->load(chunk, wanted);
  }
  bool loads_parts() const override { return inner_->loads_parts(); }
  std::shared_ptr<Deserializer> absorb(size_t stream, const std::vector<ReadStep>& steps,
                                       size_t* taken) const override {
    return inner_->absorb(stream, steps, taken);
  }
  KeyKind key_kind() const override { return inner_->key_kind(); }
  SequenceKey key(int64_t chunk, int64_t sequence) const override {
    return inner_->key(chunk, sequence);
  }
  ReadProblems problems() const override { return inner_->problems(); }

 protected:
  WrappedDeserializer() = default;

  std::shared_ptr<Deserializer> inner_;
};

}  // namespace thalweg::data
