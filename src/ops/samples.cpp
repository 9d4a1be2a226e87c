#include "ops/samples.h"

#include <thalweg/base/permutation.h>
#include <thalweg/base/philox.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>

namespace thalweg {

std::vector<Sample> samples_of(const Op& op, DType dtype) {
  Samples samples(dtype);
  if (op.samples) op.samples(samples);
  return samples.all();
}

Tensor Samples::spread(const Shape& shape, double low, double high) {
  // Evenly spaced values in shuffled order: no two are equal, so that no maximum is tied.
  const uint64_t n = static_cast<uint64_t>(element_count(shape));
  std::vector<double> values(n);
  if (n) {
    const Permutation order(n, derive_seed(seed_, drawn_++));
    for (uint64_t i = 0; i < n; ++i) {
      values[i] =
          low + (high - low) * (static_cast<double>(order(i)) + 0.43) / static_cast<double>(n);
    }
  }
  return cast(Tensor::of(values, shape), dtype_);
}

Tensor Samples::integers(const Shape& shape, int64_t low, int64_t high) {
  Philox random(derive_seed(seed_, drawn_++));
  std::vector<int64_t> values(static_cast<size_t>(element_count(shape)));
  for (int64_t& v : values) v = low + random.bounded(static_cast<uint32_t>(high - low));
  return Tensor::of(values, shape);
}

Tensor Samples::booleans(const Shape& shape) { return cast(integers(shape, 0, 2), DType::boolean); }

void sample_unary(Samples& s) {
  s.add({s.spread({3, 5}, -2, 2)});
  s.add({s.spread({7}, 1.1, 3)});
  s.add({s.spread({2, 3, 4}, 0.05, 0.95)});
  s.add({s.spread({}, 0.3, 0.6)});
  s.add({s.spread({0, 3})});
  s.add({transpose(s.spread({4, 3}, 0.1, 0.9))});
}

void sample_binary(Samples& s) {
  s.add({s.spread({3, 5}), s.spread({3, 5}, 0.5, 2.5)});
  s.add({s.spread({4, 1, 3}), s.spread({2, 1}, 0.5, 2)});
  s.add({s.spread({}, 0.5, 2), s.spread({2, 3}, 0.2, 1.7)});
  s.add({s.spread({2, 3}, 0.2, 1.7), s.spread({}, -2, -0.5)});
  s.add({s.spread({0, 3}), s.spread({1, 3})});
  s.add({transpose(s.spread({4, 3}, 0.1, 0.9)), s.spread({3, 4}, 1, 2)});
}

}  // namespace thalweg
