// arange, linspace and eye.

#include <algorithm>
#include <cmath>
#include <vector>

#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/shape.h>

#include "base/fail.h"

namespace thalweg {
namespace {

// f64 values in the dtype asked for; refused where that rounds an integer or a fraction away.
Tensor of_values(const char* operation, const std::vector<double>& values, TensorOptions options) {
  const Tensor exact = Tensor::of(values, {-1}, options.device);
  if (options.dtype == DType::f64) return exact;
  const Tensor result = cast(exact, options.dtype);
  if (is_floating(options.dtype)) return result;
  const std::vector<double> back = cast(result, DType::f64).to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (back[i] == values[i]) continue;
    fail_invalid("{}: {} cannot be held by {}; pass a floating dtype", operation, values[i],
                 name(options.dtype));
  }
  return result;
}

}  // namespace

Tensor arange(double start, double stop, double step, TensorOptions options) {
  const double steps = std::ceil((stop - start) / step);
  if (!std::isfinite(steps) || steps > 0x1p40) {
    fail_invalid("arange: from {} to {} by {}; the number of steps must be finite", start, stop,
                 step);
  }
  std::vector<double> values(static_cast<size_t>(std::max(steps, 0.0)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = start + static_cast<double>(i) * step;
  return of_values("arange", values, options);
}

Tensor arange(int64_t count, TensorOptions options) {
  if (count < 0) fail_invalid("arange: count {} is negative", count);
  return arange(0.0, static_cast<double>(count), 1.0, options);
}

Tensor linspace(double start, double stop, int64_t count, TensorOptions options) {
  if (count < 0) fail_invalid("linspace: count {} is negative", count);
  std::vector<double> values(static_cast<size_t>(count));
  const double step = count > 1 ? (stop - start) / static_cast<double>(count - 1) : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    // From the nearer end, so that both ends are exact.
    const size_t from_end = values.size() - 1 - i;
    values[i] = i <= from_end ? start + static_cast<double>(i) * step
                              : stop - static_cast<double>(from_end) * step;
  }
  return of_values("linspace", values, options);
}

Tensor eye(int64_t rows, int64_t columns, int64_t diagonal, TensorOptions options) {
  if (columns == -1) columns = rows;
  const Tensor result = Tensor::zeros({rows, columns}, options);
  diagonal = std::clamp(diagonal, -rows, columns);
  const int64_t first_row = std::max<int64_t>(0, -diagonal);
  const int64_t count = std::min(rows - first_row, columns - std::max<int64_t>(0, diagonal));
  if (count <= 0) return result;
  TensorMeta line = result.meta();
  line.offset = first_row * columns + std::max<int64_t>(0, diagonal);
  line.shape = {count};
  line.strides = {columns + 1};
  make_view(result, line).fill(1);
  return result;
}

}  // namespace thalweg
