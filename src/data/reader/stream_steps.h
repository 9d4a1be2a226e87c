#pragma once

#include <vector>

#include <thalweg/data/minibatch_source.h>

namespace thalweg::data {

/// The transforms of one stream, in order.
class StreamSteps {
 public:
  /// Those of `transforms` that name the stream; their random numbers are drawn from `seed`.
  StreamSteps(const StreamInfo& stream, const std::vector<StreamTransform>& transforms,
              uint64_t seed);

  /// Leaves out the first `n`, which were done when the stream was read.
  void skip(size_t n) { steps_.erase(steps_.begin(), steps_.begin() + static_cast<ptrdiff_t>(n)); }

  bool empty() const { return steps_.empty(); }
  /// The stream after them; a size that still differs by sequence is -1.
  StreamInfo output(const StreamInfo& stream) const;
  /// `rows` [n, ...shape] after them; `keys` has an entry per row.
  Tensor apply(Tensor rows, const std::vector<SampleKey>& keys) const;

 private:
  struct Step {
    Transform transform;
    uint64_t seed;
    uint64_t stream;
  };

  Field run(Field field) const;

  std::vector<Step> steps_;
};

/// Throws Error{invalid} for transforms of streams that are not there.
void check_transforms(const std::vector<StreamInfo>& streams,
                      const std::vector<StreamTransform>& transforms);

}  // namespace thalweg::data
