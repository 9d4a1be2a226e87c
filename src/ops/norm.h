#pragma once

// What batch, layer, group and RMS norm share. Each normalises x over some axes and scales it over
// some: `NormAxes` says which, and one pair of kernels and one gradient serve all four.

#include <thalweg/ops/norm.h>
#include <thalweg/ops/op.h>
#include <thalweg/ops/vjp.h>

namespace thalweg {

struct BatchNormAttrs {
  int64_t axis = 1;
  double epsilon = 1e-5;
  static auto fields() {
    return std::tuple{attr("axis", &BatchNormAttrs::axis, "the channels"),
                      attr("epsilon", &BatchNormAttrs::epsilon, "added to the variance")};
  }
};

struct LayerNormAttrs {
  int64_t axis = -1;
  double epsilon = 1e-5;
  static auto fields() {
    return std::tuple{attr("axis", &LayerNormAttrs::axis, "the first axis that is normalised"),
                      attr("epsilon", &LayerNormAttrs::epsilon, "added to the variance")};
  }
};

struct GroupNormAttrs {
  int64_t groups = 1;
  double epsilon = 1e-5;
  static auto fields() {
    return std::tuple{attr("groups", &GroupNormAttrs::groups, "groups of channels"),
                      attr("epsilon", &GroupNormAttrs::epsilon, "added to the variance")};
  }
};

struct NormAxes {
  Shape shape;  // x's; channels split into [groups, channels of a group] for group norm
  Dims folded;  // axes of `shape` that one mean and variance is made over
  Dims scaled;  // axes of `shape` that weight and bias run over

  Shape folded_shape() const;  // `shape` with the folded axes at size 1
  Shape scaled_shape() const;  // `shape` with the axes that are not scaled at size 1
  int64_t folded_count() const;
  /// The meta of a tensor of x's shape, in `shape`.
  TensorMeta view(const TensorMeta& m) const;
};

NormAxes batch_norm_axes(const Shape& x, const BatchNormAttrs& attrs);
NormAxes layer_norm_axes(const Shape& x, const LayerNormAttrs& attrs);
NormAxes group_norm_axes(const Shape& x, const GroupNormAttrs& attrs);

/// The dtype of means and variances: f32 for halves, else x's.
inline DType statistics_dtype(DType x) { return x == DType::f64 ? DType::f64 : DType::f32; }

/// Checks x (input 0) and the parameters from input `first` on, which must have this shape if they
/// are there, and makes output 0 like x.
void infer_norm(const InferContext& ctx, size_t first, const Shape& parameter_shape);
/// For the fused gradients, inputs grad, x, weight?: the outputs are the gradients of x, weight and
/// bias, as far as there are outputs.
void infer_norm_vjp(const InferContext& ctx, const Shape& parameter_shape);

/// The epsilon. Throws Error{invalid}, naming `operation`, for a negative one or NaN.
double checked_epsilon(const char* operation, double epsilon);

/// How a kernel or a gradient normalises.
struct NormSettings {
  NormAxes axes;
  double epsilon;
  bool centered;  // RMS norm is not: no mean is taken off
};

/// y, and mean and variance where there are outputs for them. Inputs x, weight?, bias?.
void reference_norm(const KernelContext& ctx, const NormSettings& settings);
/// Inputs grad, x, weight?. Means and variances are made anew.
void reference_norm_vjp(const KernelContext& ctx, const NormSettings& settings);

/// The gradients of x, weight and bias: by the fused row, or in terms of ops when they will be
/// differentiated again. `attrs` are those of both rows.
void norm_gradients(VjpContext& ctx, const Op& fused, const void* attrs,
                    const NormSettings& settings);

/// A parameter with size 1 along the axes that it does not run over.
Tensor scaled_view(const Tensor& parameter, const NormAxes& axes);
/// The reverse for a gradient: summed over these axes.
Tensor scaled_sum(const Tensor& g, const NormAxes& axes, const TensorMeta& parameter);

}  // namespace thalweg
