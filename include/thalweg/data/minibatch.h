#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <thalweg/data/deserializer.h>
#include <thalweg/tensor/csr.h>

namespace thalweg::data {

/// One stream of a minibatch. Sequences follow one another:
/// - samples: all samples one after the other, [samples, ...shape]
/// - padded: [B, T, ...shape], sequence b having lengths[b] <= T samples, then zeros
/// - truncated: [slots, T, ...shape], a slot going on in the next minibatch where it ends here
struct StreamBatch {
  Tensor dense = {};    // undefined for a sparse stream
  CsrTensor csr = {};   // undefined tensors for a dense stream
  Tensor lengths = {};  // i64, samples of each sequence (truncated: of each slot)
  Tensor mask = {};     // padded, truncated: u8 [B, T]: 0 nothing, 1 a sample, 2 a sequence's first
};

/// Which sequence, or part of one, a minibatch holds.
struct MinibatchSequence {
  int64_t number = 0;  // of the sequence in the corpus
  int64_t sweep = 0;
  int64_t first_sample = 0;  // truncated: the part's first; else 0
  int64_t samples = 0;       // in the stream that counts

  friend bool operator==(const MinibatchSequence&, const MinibatchSequence&) = default;
};

/// Some sequences in all streams. False is what comes after the last minibatch; a rank that got no
/// sequence of one gives a true one with 0 samples. The tensors are the caller's to keep.
class THALWEG_API Minibatch {
 public:
  Minibatch() = default;
  Minibatch(std::shared_ptr<const std::vector<StreamInfo>> streams,
            std::vector<StreamBatch> batches)
      : streams_(std::move(streams)), batches_(std::move(batches)) {}

  explicit operator bool() const { return streams_ != nullptr; }

  int64_t num_samples = 0;    // of this rank, each sequence counting its longest stream
  int64_t num_sequences = 0;  // of this rank
  int64_t all_samples = 0;    // of all ranks
  int64_t all_sequences = 0;
  int64_t sweep = 0;          // of its first sequence
  bool end_of_sweep = false;  // it reaches the end of a sweep
  int64_t repeated = 0;       // the last so many sequences of this rank are only there to pad
  std::vector<MinibatchSequence> sequences = {};  // of this rank, in order

  /// The values of a stream; those of a sparse stream with their zeros, made when asked for the
  /// first time. Throws Error{invalid}, with the names, for another.
  const Tensor& operator[](std::string_view name) const;
  /// A sparse stream as it is, for nets and products; see Module::takes_sparse, matmul().
  const CsrTensor& csr(std::string_view name) const;
  const Tensor& lengths(std::string_view name) const;
  const Tensor& mask(std::string_view name) const;

  /// Dtypes and shapes after transforms.
  const std::vector<StreamInfo>& streams() const;
  const std::vector<StreamBatch>& batches() const { return batches_; }

 private:
  size_t number_of(std::string_view name) const;

  std::shared_ptr<const std::vector<StreamInfo>> streams_;
  mutable std::vector<StreamBatch> batches_;
};

}  // namespace thalweg::data
