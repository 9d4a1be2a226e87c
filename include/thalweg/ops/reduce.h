#pragma once

// Reductions. `axes` empty means all axes; negative axes count from the end. Without keepdims the
// reduced axes are dropped, with it they stay with size 1. Halves are computed in f32 or wider and
// rounded once. Folding no elements gives 0 for sum, 1 for prod, NaN for mean, -inf for logsumexp,
// false for any and true for all; where it has no meaning (max, argmax, var, ...) Error{invalid}
// is thrown.

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// The sum. Integers and bool are summed in i64.
THALWEG_API Tensor sum(const Tensor& x, const Dims& axes = {}, bool keepdims = false);
/// The arithmetic mean of floating elements.
THALWEG_API Tensor mean(const Tensor& x, const Dims& axes = {}, bool keepdims = false);
/// The product; of integers and bool in i64. The gradient is right where elements are 0.
THALWEG_API Tensor prod(const Tensor& x, const Dims& axes = {}, bool keepdims = false);

/// The largest element; NaN if there is one. Elements that tie share the gradient evenly, as
/// PyTorch's amax does.
THALWEG_API Tensor max(const Tensor& x, const Dims& axes = {}, bool keepdims = false);
/// The smallest element; otherwise as max.
THALWEG_API Tensor min(const Tensor& x, const Dims& axes = {}, bool keepdims = false);

/// The position (i64) along one axis of the largest element: the first of equal ones, the first NaN
/// where there is one.
THALWEG_API Tensor argmax(const Tensor& x, int64_t axis, bool keepdims = false);
/// The row-major position (0-d, i64) of the largest of all elements.
THALWEG_API Tensor argmax(const Tensor& x);
/// The position of the smallest element; otherwise as argmax.
THALWEG_API Tensor argmin(const Tensor& x, int64_t axis, bool keepdims = false);
THALWEG_API Tensor argmin(const Tensor& x);

/// log(sum(exp(x))) without overflow. Where all elements are -inf the result is -inf and the
/// gradient 0; where one is +inf the result is +inf and that element's gradient NaN.
THALWEG_API Tensor logsumexp(const Tensor& x, const Dims& axes = {}, bool keepdims = false);

struct NormOptions {
  double p = 2;    ///< > 0; infinity for the largest absolute value
  Dims axes = {};  ///< empty: all
  bool keepdims = false;
};
/// The p-norm of all elements along the axes as one vector: sum(|x|^p)^(1/p). Its gradient where
/// the norm is 0 is 0.
THALWEG_API Tensor norm(const Tensor& x, const NormOptions& options = {});

struct VarOptions {
  Dims axes = {};          ///< empty: all
  int64_t correction = 0;  ///< the divisor is the number of elements less this; 1 for a sample
  bool keepdims = false;
};
/// The variance: squared distances from the mean, summed and divided by n - correction. Throws
/// Error{invalid} unless n > correction.
THALWEG_API Tensor var(const Tensor& x, const VarOptions& options = {});
/// The standard deviation, the square root of var. Its gradient where it is 0 is 0.
THALWEG_API Tensor std(const Tensor& x, const VarOptions& options = {});

/// True (bool) where an element is not 0. NaN counts as not 0.
THALWEG_API Tensor any(const Tensor& x, const Dims& axes = {}, bool keepdims = false);
/// True (bool) where no element is 0.
THALWEG_API Tensor all(const Tensor& x, const Dims& axes = {}, bool keepdims = false);

/// The sums of the elements up to and including each one along an axis; of integers and bool in
/// i64.
THALWEG_API Tensor cumsum(const Tensor& x, int64_t axis);

}  // namespace thalweg
