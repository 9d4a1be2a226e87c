#include <cmath>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/optimizer.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/train/clip.h>

#include "base/fail.h"

namespace thalweg::train {
namespace {

void require_limit(const char* operation, double limit) {
  if (!(limit >= 0)) fail_invalid("{}: the limit is {}; it must not be negative", operation, limit);
}

[[noreturn]] void fail_norm(std::span<const Tensor> tensors, double norm) {
  size_t first = 0;
  while (first < tensors.size() && std::isfinite(global_norm(tensors.subspan(first, 1)))) ++first;
  fail_invalid(
      "clip_global_norm: the norm is {}; tensor {} of {} is the first that is not finite; "
      "nothing was changed",
      norm, first, tensors.size());
}

}  // namespace

double global_norm(std::span<const Tensor> tensors) {
  if (tensors.empty()) return 0;
  const Pause pause;
  std::vector<Tensor> row_major;
  std::vector<const TensorImpl*> inputs;
  for (const Tensor& t : tensors) row_major.push_back(t.contiguous());
  for (const Tensor& t : row_major) inputs.push_back(t.impl());
  const NoAttrs none;
  check_update(global_norm_op(), &none, inputs);
  const Tensor norm = Tensor::zeros({}, {DType::f64, tensors[0].device()});
  TensorImpl* const out[] = {norm.impl()};
  run_update(global_norm_op(), &none, inputs, out);
  return norm.to(Device::cpu()).item<double>();
}

double clip_global_norm(std::span<const Tensor> tensors, double max_norm) {
  require_limit("clip_global_norm", max_norm);
  const double norm = global_norm(tensors);
  if (!std::isfinite(norm)) fail_norm(tensors, norm);
  if (norm <= max_norm) return norm;
  const Pause pause;
  for (const Tensor& t : tensors) {
    // The factor may be too small, and an element times it too large, for a half type's rounding.
    if (is_half(t.dtype()))
      t.assign(t.to(DType::f32) * (max_norm / norm));
    else
      t *= max_norm / norm;
  }
  return norm;
}

void clip_value(std::span<const Tensor> tensors, double max) {
  require_limit("clip_value", max);
  const Pause pause;
  for (const Tensor& t : tensors) t.assign(clip(t, -max, max));
}

// max_norm / sqrt(max(sum of squares, max_norm^2)): below the limit the factor is 1 and constant,
// so that no root is differentiated at zero.
Tensor clip_norm(const Tensor& x, double max_norm) {
  require_limit("clip_norm", max_norm);
  const Tensor wide = is_half(x.dtype()) ? x.to(DType::f32) : x;
  const Tensor squares = maximum(sum(square(wide)), max_norm * max_norm);
  const Tensor clipped = wide * (max_norm / sqrt(squares));
  return is_half(x.dtype()) ? clipped.to(x.dtype()) : clipped;
}

}  // namespace thalweg::train
