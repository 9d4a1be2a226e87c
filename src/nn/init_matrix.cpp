// Initializers that look at a parameter as a matrix or as an image.

#include <cmath>
#include <vector>

#include <thalweg/nn/init.h>

#include "base/fail.h"
#include "nn/init_values.h"

namespace thalweg::init {
namespace {

using Vector = std::vector<double>;

void subtract_projection(double* v, const double* unit, int64_t n) {
  double dot = 0;
  for (int64_t i = 0; i < n; ++i) dot += v[i] * unit[i];
  for (int64_t i = 0; i < n; ++i) v[i] -= dot * unit[i];
}

void normalize(double* v, int64_t n) {
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += v[i] * v[i];
  const double scale = 1 / std::sqrt(squares);
  for (int64_t i = 0; i < n; ++i) v[i] *= scale;
}

// `count` orthonormal vectors of length n >= count, one after the other. Gram and Schmidt's way;
// the second round removes what rounding left of the first. Scaling by a positive number only is
// what makes the result even over all orthogonal matrices.
Vector orthonormal_vectors(int64_t count, int64_t n, uint64_t seed) {
  Vector all(static_cast<size_t>(count * n));
  for (int64_t i = 0; i < count * n; ++i) all[static_cast<size_t>(i)] = normal_at(seed, i);
  for (int64_t k = 0; k < count; ++k) {
    double* v = all.data() + k * n;
    for (int round = 0; round < 2; ++round) {
      for (int64_t j = 0; j < k; ++j) subtract_projection(v, all.data() + j * n, n);
    }
    normalize(v, n);
  }
  return all;
}

void fill_orthogonal(const Tensor& out, uint64_t seed, double gain) {
  if (out.dims() < 2) {
    fail_invalid("orthogonal: parameter of shape {} has less than two dimensions",
                 to_string(out.shape()));
  }
  if (out.size() == 0) return;
  const int64_t rows = out.size(0), columns = out.size() / rows;
  const bool wide = rows <= columns;
  const Vector q = orthonormal_vectors(wide ? rows : columns, wide ? columns : rows, seed);
  set_elements(out, 2, [&](int64_t i) {
    const int64_t at = wide ? i : i % columns * rows + i / columns;
    return gain * q[static_cast<size_t>(at)];
  });
}

// The weight of a pixel at distance |i - centre| of a kernel of n, 1 at the centre, 0 outside.
double hat(int64_t i, int64_t n) {
  const double factor = std::ceil(static_cast<double>(n) / 2);
  const double centre = n % 2 ? factor - 1 : factor - 0.5;
  return 1 - std::abs(static_cast<double>(i) - centre) / factor;
}

void fill_bilinear(const Tensor& out) {
  if (out.dims() != 4) {
    fail_invalid("bilinear: parameter of shape {} has not the four dimensions of a kernel",
                 to_string(out.shape()));
  }
  const int64_t height = out.size(2), width = out.size(3);
  set_elements(out, 4,
               [=](int64_t i) { return hat(i / width % height, height) * hat(i % width, width); });
}

}  // namespace

Initializer orthogonal(double gain) {
  return {fmt::format("orthogonal({})", gain),
          [gain](const Tensor& out, uint64_t seed) { fill_orthogonal(out, seed, gain); }};
}

Initializer bilinear() {
  return {"bilinear", [](const Tensor& out, uint64_t) { fill_bilinear(out); }};
}

}  // namespace thalweg::init
