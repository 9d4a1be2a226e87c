#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// Corpora one after the other, as one. All have the same streams and kind of keys.
class JoinedCorpus final : public Deserializer {
 public:
  /// Throws Error{invalid} for corpora that differ.
  explicit JoinedCorpus(std::vector<std::shared_ptr<Deserializer>> parts);

  std::string name() const override;
  const std::vector<StreamInfo>& streams() const override { return parts_[0]->streams(); }
  void limit_chunks(size_t bytes) override;
  bool has_chunk(int64_t chunk) const override { return find(chunk).part != nullptr; }
  int64_t chunks() const override;
  ChunkInfo chunk(int64_t chunk) const override;
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override;
  bool loads_parts() const override;
  KeyKind key_kind() const override { return parts_[0]->key_kind(); }
  SequenceKey key(int64_t chunk, int64_t sequence) const override;
  ReadProblems problems() const override;

 private:
  struct Place {
    const Deserializer* part = nullptr;
    int64_t chunk = 0;
  };
  Place find(int64_t chunk) const;
  Place get(int64_t chunk) const;

  std::vector<std::shared_ptr<Deserializer>> parts_;
  mutable std::mutex mutex_;
  mutable std::vector<int64_t> first_chunks_ = {0};  // of the parts as far as known
};

}  // namespace thalweg::data
