#pragma once

#include <memory>
#include <string>
#include <vector>

#include <thalweg/data/minibatch.h>

namespace thalweg::data {

/// Values in memory, shared and not copied: a row is a sample.
struct MemoryStream {
  MemoryStream(std::string name, Tensor rows, std::vector<int64_t> lengths = {});
  MemoryStream(std::string name, CsrTensor rows, std::vector<int64_t> lengths = {});
  /// A tensor [samples, ...] per sequence, all of one dtype and sample shape; copied.
  MemoryStream(std::string name, const std::vector<Tensor>& sequences);

  std::string name;
  Tensor dense = {};
  CsrTensor csr = {};
  std::vector<int64_t> lengths = {};  // samples of each sequence, which follow one another; empty:
                                      // every row is a sequence
  std::vector<std::string> class_names = {};
};

/// Sequences in memory. Throws Error{invalid} when streams have different numbers of them.
class THALWEG_API MemoryDeserializer : public Deserializer {
 public:
  /// `keys`, if given, has one per sequence.
  explicit MemoryDeserializer(const std::vector<MemoryStream>& streams,
                              std::vector<SequenceKey> keys = {});

  std::string name() const override { return "arrays in memory"; }
  const std::vector<StreamInfo>& streams() const override;
  bool has_chunk(int64_t chunk) const override { return chunk == 0; }
  int64_t chunks() const override { return 1; }
  ChunkInfo chunk(int64_t chunk) const override;
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override;
  bool loads_parts() const override { return true; }
  KeyKind key_kind() const override;
  SequenceKey key(int64_t chunk, int64_t sequence) const override;

 private:
  class Arrays;
  std::shared_ptr<const Arrays> arrays_;
};

}  // namespace thalweg::data
