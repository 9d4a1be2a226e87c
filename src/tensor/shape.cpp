#include <thalweg/tensor/shape.h>

#include "base/fail.h"

namespace thalweg {

int64_t checked_element_count(const char* operation, const Shape& shape, size_t item_bytes) {
  int64_t count = 1;
  bool fits = true;
  for (int64_t size : shape) {
    if (size < 0) fail_invalid("{}: negative size in shape {}", operation, to_string(shape));
  }
  for (int64_t size : shape) {
    if (size == 0) return 0;
    fits = fits && !__builtin_mul_overflow(count, size, &count);
  }
  int64_t bytes = 0;
  fits = fits && !__builtin_mul_overflow(count, static_cast<int64_t>(item_bytes), &bytes);
  if (!fits) {
    fail_invalid("{}: shape {} of {}-byte elements does not fit in 63 bits of bytes", operation,
                 to_string(shape), item_bytes);
  }
  return count;
}

std::string to_string(const Dims& dims) {
  return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ", "));
}

int64_t normalize_axis(const char* operation, int64_t axis, size_t dims) {
  const int64_t n = static_cast<int64_t>(dims);
  if (axis < -n || axis >= n) {
    fail_invalid("{}: axis {} is out of range; a tensor of {} dimensions has axes {} to {}",
                 operation, axis, n, -n, n - 1);
  }
  return axis < 0 ? axis + n : axis;
}

Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b) {
  const bool a_longer = a.size() >= b.size();
  Shape result = a_longer ? a : b;
  const Shape& other = a_longer ? b : a;
  const size_t skip = result.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& size = result[skip + i];
    if (size == other[i] || other[i] == 1) continue;
    if (size != 1) {
      fail_invalid(
          "{}: shapes {} and {} do not broadcast; dimension {} from the right is {} and {}",
          operation, to_string(a), to_string(b), other.size() - i, a_longer ? size : other[i],
          a_longer ? other[i] : size);
    }
    size = other[i];
  }
  return result;
}

}  // namespace thalweg
