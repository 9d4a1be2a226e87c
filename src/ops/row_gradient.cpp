#include "ops/row_gradient.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/fail.h"
#include "ops/scalar.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

/// Slices of an axis as they lie: slice i of x is `before` runs of `run` elements, `step` apart.
struct Slices {
  int64_t count, before = 1, run = 1, step;
  const int64_t* indices;

  Slices(const Shape& shape, const RowGradient& which)
      : count(which.indices.size()), indices(which.indices.impl()->as<const int64_t>()) {
    const auto axis = static_cast<size_t>(which.axis);
    for (size_t i = 0; i < axis; ++i) before *= shape[i];
    for (size_t i = axis + 1; i < shape.size(); ++i) run *= shape[i];
    step = shape[axis] * run;
  }

  /// Calls f(position in x, position among the slices) for each run; x is walked in order.
  template <typename F>
  void for_each_run(F&& f) const {
    for (int64_t b = 0; b < before; ++b) {
      for (int64_t i = 0; i < count; ++i) f(b * step + indices[i] * run, (i * before + b) * run);
    }
  }
};

Shape slices_shape(const Shape& shape, const RowGradient& which) {
  Shape result{which.indices.size()};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<int64_t>(i) != which.axis) result.push_back(shape[i]);
  }
  return result;
}

// Elements as bits, by their size.
template <typename F>
void visit_bits(DType dtype, F&& f) {
  switch (item_size(dtype)) {
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
  }
  fail_invalid("row gradient: slices of {}; only floating tensors have gradients", name(dtype));
}

template <typename F>
void visit_sums(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<ComputeType<T>>) f(zero);
  });
}

template <typename T>
void add_to(T& total, T value) {
  using C = ComputeType<T>;
  total = static_cast<T>(static_cast<C>(total) + static_cast<C>(value));
}

void require_row_major(const Tensor& x) {
  if (x.impl()->row_major && x.device() == Device::cpu()) return;
  fail_invalid(
      "row gradient: the weight of shape {} has strides {} on {}; expected row-major on cpu",
      to_string(x.shape()), to_string(x.strides()), to_string(x.device()));
}

}  // namespace

TouchedRows touched_rows(const Tensor& positions) {
  const Tensor wide = positions.to(DType::i64).contiguous();
  tell_host_access(*wide.impl(), "which rows it names; their gradient is row-sparse");
  const int64_t* from = wide.impl()->as<const int64_t>();
  const int64_t count = wide.size();
  const Tensor sorted = Tensor::empty({count}, {.dtype = DType::i64});
  int64_t* unique = sorted.impl()->as<int64_t>();
  std::copy_n(from, count, unique);
  std::sort(unique, unique + count);
  const int64_t n = std::unique(unique, unique + count) - unique;
  TouchedRows touched{Tensor::empty({n}, {.dtype = DType::i64}),
                      Tensor::empty(positions.shape(), {.dtype = DType::i64})};
  std::copy_n(unique, n, touched.indices.impl()->as<int64_t>());
  int64_t* place = touched.places.impl()->as<int64_t>();
  for (int64_t i = 0; i < count; ++i)
    place[i] = std::lower_bound(unique, unique + n, from[i]) - unique;
  return touched;
}

Tensor gather_slices(const Tensor& x, const RowGradient& which) {
  require_row_major(x);
  const Slices slices(x.shape(), which);
  const Tensor result = Tensor::empty(slices_shape(x.shape(), which), {.dtype = x.dtype()});
  visit_bits(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.impl()->as<const T>();
    T* to = result.impl()->as<T>();
    slices.for_each_run(
        [&](int64_t there, int64_t here) { std::copy_n(from + there, slices.run, to + here); });
  });
  return result;
}

void scatter_slices(const Tensor& values, const RowGradient& which, const Tensor& x) {
  require_row_major(x);
  const Slices slices(x.shape(), which);
  visit_bits(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = values.impl()->as<const T>();
    T* to = x.impl()->as<T>();
    slices.for_each_run(
        [&](int64_t there, int64_t here) { std::copy_n(from + here, slices.run, to + there); });
  });
  x.impl()->storage->bump_version();
}

void add_slices(const RowGradient& gradient, const Tensor& x) {
  require_row_major(x);
  const Slices slices(x.shape(), gradient);
  visit_sums(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = gradient.rows.impl()->as<const T>();
    T* to = x.impl()->as<T>();
    slices.for_each_run([&](int64_t there, int64_t here) {
      for (int64_t k = 0; k < slices.run; ++k) add_to(to[there + k], from[here + k]);
    });
  });
  x.impl()->storage->bump_version();
}

RowGradient sum_of(const RowGradient& a, const RowGradient& b) {
  const int64_t *ia = a.indices.impl()->as<const int64_t>(),
                *ib = b.indices.impl()->as<const int64_t>();
  const int64_t na = a.indices.size(), nb = b.indices.size();
  std::vector<int64_t> all;
  std::set_union(ia, ia + na, ib, ib + nb, std::back_inserter(all));
  RowGradient sum{a.axis, Tensor::of(all), Tensor()};
  Shape shape = a.rows.shape();
  shape[0] = static_cast<int64_t>(all.size());
  sum.rows = Tensor::zeros(shape, {.dtype = a.rows.dtype()});
  // Among the slices of the sum, those of a and b are slices of axis 0.
  for (const RowGradient* part : {&a, &b}) {
    RowGradient within{0, Tensor::empty({part->indices.size()}, {.dtype = DType::i64}), part->rows};
    const int64_t* wanted = part->indices.impl()->as<const int64_t>();
    int64_t* place = within.indices.impl()->as<int64_t>();
    for (int64_t i = 0, at = 0; i < part->indices.size(); ++i) {
      while (all[static_cast<size_t>(at)] != wanted[i]) ++at;
      place[i] = at;
    }
    add_slices(within, sum.rows);
  }
  return sum;
}

RowGradient no_rows(const RowGradient& like) {
  Shape shape = like.rows.shape();
  shape[0] = 0;
  return {like.axis, Tensor::empty({0}, {.dtype = DType::i64}),
          Tensor::empty(shape, {.dtype = like.rows.dtype()})};
}

Tensor RowGradient::to_dense(const Shape& shape) const {
  const Tensor dense = Tensor::zeros(shape, {.dtype = rows.dtype()});
  add_slices(*this, dense);
  return dense;
}

}  // namespace thalweg
