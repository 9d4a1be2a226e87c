#pragma once

#include <thalweg/data/minibatch_source.h>

#include "data/reader/absorb.h"
#include "data/reader/planner.h"
#include "data/reader/stream_steps.h"

namespace thalweg::data {

/// Reads the sequences of a plan and makes tensors of them. Any thread may use it.
class Packer {
 public:
  Packer(const std::vector<StreamInfo>& streams, const MinibatchSourceOptions& options,
         uint64_t seed, const AbsorbedSteps& absorbed = {});

  /// The streams of minibatches.
  const std::vector<StreamInfo>& streams() const { return *outputs_; }

  Minibatch make(const Plan& plan, SourceCounters& counters) const;

 private:
  StreamBatch pack_stream(const Plan& plan, const std::vector<const PlanItem*>& items,
                          const std::vector<StreamValues>& values, size_t stream,
                          SourceCounters& counters) const;

  std::vector<StreamInfo> inputs_;
  std::shared_ptr<const std::vector<StreamInfo>> outputs_;
  std::vector<StreamSteps> steps_;  // of each stream
  Packing packing_;
  int64_t truncation_;
  uint64_t seed_;  // of transforms, also those that are part of reading
};

/// Where a sequence's samples, or a part of them, come to lie among the rows of a tensor.
struct Piece {
  const StreamValues* values;
  int64_t first;  // sample
  int64_t count;
  int64_t row;
};

/// Where all that a minibatch has of a stream comes to lie.
struct StreamLayout {
  std::vector<Piece> pieces;     // in order
  std::vector<SampleKey> keys;   // of each piece
  std::vector<int64_t> lengths;  // of sequences or slots
  Shape grid = {};               // [rows], or [sequences or slots, T]
};

StreamLayout lay_out(const StreamInfo& stream, const Plan& plan,
                     const std::vector<const PlanItem*>& items,
                     const std::vector<StreamValues>& values, Packing packing, int64_t truncation);

/// Rows of shape `sample` from the pieces; `rows` in all, with zeros where there is none.
Tensor pack_dense(DType dtype, const Shape& sample, const std::vector<Piece>& pieces, int64_t rows);
CsrTensor pack_sparse(const StreamInfo& stream, const std::vector<Piece>& pieces, int64_t rows);

/// The same after transforms.
Tensor pack_transformed(const StreamInfo& stream, const StreamSteps& steps,
                        const StreamLayout& layout);

/// The shape of a sample in all the pieces. Throws Error{invalid} where they differ.
Shape sample_shape(const StreamInfo& stream, const std::vector<Piece>& pieces);

}  // namespace thalweg::data
