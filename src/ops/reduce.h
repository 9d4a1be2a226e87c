#pragma once

// What reductions share: attributes, shapes, and a walk over the elements that fold into each
// result.

#include <thalweg/ops/op.h>

#include "ops/scalar.h"

namespace thalweg {

class Samples;

/// The type that reference kernels sum elements of type T in; integers wrap around.
template <typename T>
using SumType = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double, uint64_t>;
/// The element type of a sum or product over elements of type T.
template <typename T>
using SumElement = std::conditional_t<std::is_floating_point_v<ComputeType<T>>, T, int64_t>;

struct ReduceAttrs {
  Dims axes;  // sorted, from 0
  bool keepdims = false;
  /// The fields as those of A, a struct that derives from this one.
  template <typename A>
  static auto fields_of() {
    return std::tuple{attr<A, Dims>("axes", &ReduceAttrs::axes, "the axes that are folded"),
                      attr<A, bool>("keepdims", &ReduceAttrs::keepdims, "keep them with size 1")};
  }
  static auto fields() { return fields_of<ReduceAttrs>(); }
};

struct NormAttrs : ReduceAttrs {
  double p = 2;
  static auto fields() {
    return std::tuple_cat(fields_of<NormAttrs>(),
                          std::tuple{attr("p", &NormAttrs::p, "the exponent, or infinity")});
  }
};

/// Normalizes and sorts the axes; all axes when empty. Throws Error{invalid} for one out of range
/// or named twice.
ReduceAttrs reduce_attrs(const char* operation, const Tensor& x, const Dims& axes, bool keepdims);
Shape reduced_shape(const Shape& shape, const Dims& axes, bool keepdims);
/// Shape by ReduceAttrs, dtype of input 0.
void infer_reduced(const InferContext& ctx);
/// The same, but integers and bool give i64.
void infer_sum(const InferContext& ctx);
/// The same, for floating elements only.
void infer_floating_reduced(const InferContext& ctx);
/// Throws Error{invalid} when a result would be made of no elements.
void require_elements(const InferContext& ctx, const Dims& axes);
/// A result, or its gradient, with the folded axes at size 1: it broadcasts against x.
Tensor with_folded_axes(const Tensor& y, const TensorMeta& x, const ReduceAttrs& attrs);
/// A gradient over folded axes, repeated over the elements that were folded; a view.
Tensor spread_back(const Tensor& g, const TensorMeta& x, const ReduceAttrs& attrs);
/// How many elements fold into one result.
int64_t folded_count(const Shape& shape, const Dims& axes);
void sample_reduce(Samples& samples);

/// The elements of input 0 that fold into one result.
class ReducedElements {
 public:
  ReducedElements(const TensorMeta& in, const Dims& axes);
  int64_t count() const { return count_; }
  void start_at(int64_t first) { first_ = first; }
  /// Calls f(position), in row-major order of the folded axes.
  template <typename F>
  void visit(F&& f) const {
    if (count_ == 0) return;
    walk(0, first_, f);
  }

 private:
  template <typename F>
  void walk(size_t axis, int64_t position, F&& f) const {
    if (axis == sizes_.size()) return f(position);
    for (int64_t i = 0; i < sizes_[axis]; ++i) walk(axis + 1, position + i * strides_[axis], f);
  }

  Dims sizes_;
  Dims strides_;
  int64_t count_ = 1;
  int64_t first_ = 0;
};

/// Calls f(out_position, elements) for every element of the output, in row-major order, for ops
/// with ReduceAttrs whose output is row-major.
template <typename F>
void for_each_reduction(const KernelContext& ctx, F&& f) {
  const TensorMeta& in = ctx.in(0).meta;
  const Dims& axes = ctx.attrs<ReduceAttrs>().axes;
  ReducedElements elements(in, axes);
  Dims sizes, strides;  // of the axes that stay
  size_t next = 0;
  for (size_t i = 0; i < in.shape.size(); ++i) {
    if (next < axes.size() && axes[next] == static_cast<int64_t>(i)) {
      ++next;
      continue;
    }
    sizes.push_back(in.shape[i]);
    strides.push_back(in.strides[i]);
  }
  const int64_t results = element_count(sizes);
  for (int64_t o = 0; o < results; ++o) {
    int64_t rest = o, first = 0;
    for (size_t i = sizes.size(); i-- > 0;) {
      first += rest % sizes[i] * strides[i];
      rest /= sizes[i];
    }
    elements.start_at(first);
    f(o, elements);
  }
}

}  // namespace thalweg
