#pragma once

// Argument sets that a row names for the tests and benches generated from the table: gradient
// check, kernels against the reference, plan against eager.

#include <vector>

#include <thalweg/ops/op.h>

namespace thalweg {

/// One call of an op.
struct Sample {
  std::vector<Tensor> inputs;
  std::vector<std::byte> attrs;  // the attribute struct's bytes
};

/// Collects the samples of a row. Values are drawn from the seed, so that every caller gets the
/// same.
class THALWEG_API Samples {
 public:
  /// Floating inputs have this dtype.
  explicit Samples(DType dtype, uint64_t seed = 7) : dtype_(dtype), seed_(seed) {}

  DType dtype() const { return dtype_; }
  /// Elements of dtype(), evenly spread over [low, high), each at least 1e-2 from any other.
  Tensor spread(const Shape& shape, double low = -2, double high = 2);
  /// i64 elements drawn from [low, high).
  Tensor integers(const Shape& shape, int64_t low, int64_t high);
  /// Draws bool elements.
  Tensor booleans(const Shape& shape);

  template <typename A = NoAttrs>
  void add(std::vector<Tensor> inputs, const A& attrs = {}) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&attrs);
    all_.push_back({std::move(inputs), {bytes, bytes + sizeof(A)}});
  }
  const std::vector<Sample>& all() const { return all_; }

 private:
  DType dtype_;
  uint64_t seed_;
  uint64_t drawn_ = 0;
  std::vector<Sample> all_;
};

/// The samples of a row; empty where the row has none.
THALWEG_API std::vector<Sample> samples_of(const Op& op, DType dtype);

}  // namespace thalweg
