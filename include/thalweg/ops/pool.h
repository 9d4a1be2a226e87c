#pragma once

// Pooling over 1 to 3 spatial axes, channels second: [N, C, W], [N, C, H, W] or [N, C, D, H, W].
// An axis of `size` gives (size + 2 padding - kernel) / stride + 1 windows, rounded down, or up
// with ceil_mode as long as the last window starts inside the input or its left padding. The
// result's axes are nested in memory as the input's.

#include <thalweg/ops/per_axis.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

struct MaxPoolOptions {
  PerAxis kernel = 2;
  PerAxis stride = 0;      // step from one window to the next; 0: the kernel's size
  PerAxis padding = 0;     // at most half the kernel; never wins
  bool ceil_mode = false;  // also windows that reach over the end
};

/// The largest element of each window; the first of equal ones, and NaN wins. Every dtype but bool.
/// Throws Error{invalid} for padding above half the kernel and for a kernel larger than the padded
/// input.
THALWEG_API Tensor max_pool(const Tensor& x, const MaxPoolOptions& options = {});

struct MaxPoolResult {
  Tensor values;
  Tensor indices;  // i64: the element's position among the row-major spatial elements of x
};

/// max_pool, and where each largest element was.
THALWEG_API MaxPoolResult max_pool_with_indices(const Tensor& x,
                                                const MaxPoolOptions& options = {});

struct AvgPoolOptions {
  PerAxis kernel = 2;
  PerAxis stride = 0;             // step from one window to the next; 0: the kernel's size
  PerAxis padding = 0;            // at most half the kernel
  bool ceil_mode = false;         // also windows that reach over the end
  bool count_include_pad = true;  // divide by the window's size with padding, else without
};

/// The mean of each window. Floating dtypes; halves are summed in f32. Throws as max_pool.
THALWEG_API Tensor avg_pool(const Tensor& x, const AvgPoolOptions& options = {});

/// One window over all spatial axes, which keep size 1: [N, C, 1, 1] of [N, C, H, W].
THALWEG_API Tensor global_max_pool(const Tensor& x);
THALWEG_API Tensor global_avg_pool(const Tensor& x);

}  // namespace thalweg
