// Products with sparse matrices in compressed rows. The three ops are each other's gradients: with
// the sparse A [R, K], A @ w, transpose(A) @ g, and the elements of g @ transpose(w) where A has
// values.

#include <algorithm>

#include <thalweg/base/threads.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/sparse.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/index_values.h"
#include "ops/infer.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

struct CsrAttrs {
  int64_t width = 0;
  static auto fields() {
    return std::tuple{attr("width", &CsrAttrs::width, "columns of the sparse matrix")};
  }
};

extern const Op kCsrMatmul, kCsrTransposedMatmul, kCsrPairs;

void infer_parts(const InferContext& ctx, size_t columns, size_t row_starts) {
  require_index(ctx, columns);
  require_index(ctx, row_starts);
  require_dims(ctx, columns, 1, "[S]");
  require_dims(ctx, row_starts, 1, "[R + 1]");
  if (ctx.in(row_starts).shape[0] < 1)
    fail_invalid("{}: row_starts is empty; it has an entry more than there are rows",
                 ctx.op().name);
}

void require_stored(const InferContext& ctx) {
  require_floating(ctx, 0);
  require_dims(ctx, 0, 1, "[S]");
  require_same_dtype(ctx, 0, 3);
  require_dims(ctx, 3, 2, "[K, N]");
  if (ctx.in(0).shape == ctx.in(1).shape) return;
  fail_invalid("{}: values {} and columns {} differ in shape", ctx.op().name,
               to_string(ctx.in(0).shape), to_string(ctx.in(1).shape));
}

void infer_csr_matmul(const InferContext& ctx) {
  infer_parts(ctx, 1, 2);
  require_stored(ctx);
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major({ctx.in(2).shape[0] - 1, ctx.in(3).shape[1]});
}

void infer_csr_transposed(const InferContext& ctx) {
  infer_parts(ctx, 1, 2);
  require_stored(ctx);
  if (ctx.in(3).shape[0] != ctx.in(2).shape[0] - 1) {
    fail_invalid("{}: g {} has not the rows of row_starts {}", ctx.op().name,
                 to_string(ctx.in(3).shape), to_string(ctx.in(2).shape));
  }
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major({ctx.attrs<CsrAttrs>().width, ctx.in(3).shape[1]});
}

void infer_csr_pairs(const InferContext& ctx) {
  infer_parts(ctx, 1, 2);
  require_floating(ctx, 0);
  require_same_dtype(ctx, 0, 3);
  require_dims(ctx, 0, 2, "[R, N]");
  require_dims(ctx, 3, 2, "[K, N]");
  const Shape &g = ctx.in(0).shape, &weight = ctx.in(3).shape;
  if (g[1] != weight[1] || g[0] != ctx.in(2).shape[0] - 1) {
    fail_invalid("{}: g {} does not fit weight {} and row_starts {}", ctx.op().name, to_string(g),
                 to_string(weight), to_string(ctx.in(2).shape));
  }
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(ctx.in(1).shape);
}

void vjp_csr_matmul(VjpContext& ctx) {
  const CsrAttrs width{ctx.input_meta(3).shape[0]};
  const Tensor& g = ctx.grad();
  if (ctx.needs(0))
    ctx.set(0, call(kCsrPairs, NoAttrs{}, g, ctx.input(1), ctx.input(2), ctx.input(3)));
  if (ctx.needs(3))
    ctx.set(3, call(kCsrTransposedMatmul, width, ctx.input(0), ctx.input(1), ctx.input(2), g));
}

void vjp_csr_transposed(VjpContext& ctx) {
  const Tensor& h = ctx.grad();
  if (ctx.needs(0))
    ctx.set(0, call(kCsrPairs, NoAttrs{}, ctx.input(3), ctx.input(1), ctx.input(2), h));
  if (ctx.needs(3))
    ctx.set(3, call(kCsrMatmul, NoAttrs{}, ctx.input(0), ctx.input(1), ctx.input(2), h));
}

void vjp_csr_pairs(VjpContext& ctx) {
  const CsrAttrs width{ctx.input_meta(3).shape[0]};
  const Tensor& u = ctx.grad();
  if (ctx.needs(0))
    ctx.set(0, call(kCsrMatmul, NoAttrs{}, u, ctx.input(1), ctx.input(2), ctx.input(3)));
  if (ctx.needs(3))
    ctx.set(3, call(kCsrTransposedMatmul, width, u, ctx.input(1), ctx.input(2), ctx.input(0)));
}

/// Columns and row starts of a kernel's inputs 1 and 2, checked.
class CsrParts {
 public:
  CsrParts(const KernelContext& ctx, int64_t width)
      : stored_(ctx.in(1).meta.size()),
        columns_(ctx, 1, width, false, 1),
        starts_(ctx, 2, stored_ + 1, false, 0) {
    for (int64_t r = 0; r < rows(ctx); ++r) {
      if (start(r) <= start(r + 1)) continue;
      fail_invalid("{}: row_starts falls from {} to {} at row {}", ctx.op().name, start(r),
                   start(r + 1), r);
    }
  }

  static int64_t rows(const KernelContext& ctx) { return ctx.in(2).meta.size() - 1; }
  int64_t start(int64_t row) const { return starts_.data()[row * starts_.strides()[0]]; }
  int64_t column(int64_t i) const { return columns_.data()[i * columns_.strides()[0]]; }

 private:
  int64_t stored_;
  IndexValues columns_;
  IndexValues starts_;
};

/// The elements of a matrix of any strides.
template <typename T>
struct Matrix {
  const T* data;
  int64_t row_stride, column_stride;
  explicit Matrix(const TensorImpl& in)
      : data(in.as<T>()), row_stride(in.meta.strides[0]), column_stride(in.meta.strides[1]) {}
  double at(int64_t row, int64_t column) const {
    return as_double(data[row * row_stride + column * column_stride]);
  }
};

constexpr double kElementNs = 1;
constexpr int64_t kColumnsOfTile = 256;

void reference_csr_matmul(const KernelContext& ctx) {
  const CsrParts parts(ctx, ctx.in(3).meta.shape[0]);
  const int64_t n = ctx.in(3).meta.shape[1];
  const int64_t rows = CsrParts::rows(ctx);
  const int64_t step = ctx.in(0).meta.strides[0];
  const double row_ns = kElementNs * static_cast<double>(n) *
                        static_cast<double>(ctx.in(0).meta.size() / std::max<int64_t>(1, rows) + 1);
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* values = ctx.in(0).as<T>();
    const Matrix<T> weight(ctx.in(3));
    T* out = ctx.out().as<T>();
    parallel_ranges(rows, 16, row_ns, [&](int64_t begin, int64_t end) {
      Scratch<double> sums(n);
      for (int64_t r = begin; r < end; ++r) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (int64_t i = parts.start(r); i < parts.start(r + 1); ++i) {
          const double value = as_double(values[i * step]);
          const int64_t column = parts.column(i);
          for (int64_t k = 0; k < n; ++k) sums[k] += value * weight.at(column, k);
        }
        for (int64_t k = 0; k < n; ++k) out[r * n + k] = static_cast<T>(sums[k]);
      }
    });
  });
}

void reference_csr_transposed(const KernelContext& ctx) {
  const int64_t width = ctx.attrs<CsrAttrs>().width;
  const CsrParts parts(ctx, width);
  const int64_t n = ctx.in(3).meta.shape[1];
  const int64_t step = ctx.in(0).meta.strides[0];
  const int64_t tiles = (n + kColumnsOfTile - 1) / kColumnsOfTile;
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* values = ctx.in(0).as<T>();
    const Matrix<T> g(ctx.in(3));
    Scratch<double> sums(width * n, 0.0);
    // A tile is a block of columns: it meets the rows in their order.
    const double tile_ns = kElementNs * static_cast<double>(ctx.in(0).meta.size()) * kColumnsOfTile;
    parallel_tiles(tiles, tile_ns, [&](int64_t tile) {
      const int64_t first = tile * kColumnsOfTile, end = std::min(n, first + kColumnsOfTile);
      for (int64_t r = 0; r < CsrParts::rows(ctx); ++r) {
        for (int64_t i = parts.start(r); i < parts.start(r + 1); ++i) {
          const double value = as_double(values[i * step]);
          const int64_t to = parts.column(i) * n;
          for (int64_t k = first; k < end; ++k) sums[to + k] += value * g.at(r, k);
        }
      }
    });
    T* out = ctx.out().as<T>();
    for (int64_t i = 0; i < width * n; ++i) out[i] = static_cast<T>(sums[i]);
  });
}

void reference_csr_pairs(const KernelContext& ctx) {
  const CsrParts parts(ctx, ctx.in(3).meta.shape[0]);
  const int64_t n = ctx.in(3).meta.shape[1];
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> g(ctx.in(0)), weight(ctx.in(3));
    T* out = ctx.out().as<T>();
    std::fill_n(out, ctx.out().meta.size(), static_cast<T>(0.f));
    for (int64_t r = 0; r < CsrParts::rows(ctx); ++r) {
      for (int64_t i = parts.start(r); i < parts.start(r + 1); ++i) {
        double sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += g.at(r, k) * weight.at(parts.column(i), k);
        out[i] = static_cast<T>(sum);
      }
    }
  });
}

// Rows of 2, 0, 3 and 1 values in 5 columns.
std::vector<Tensor> sample_parts(Tensor first, Tensor last) {
  return {std::move(first), Tensor::of<int64_t>({4, 0, 1, 3, 4, 2}),
          Tensor::of<int64_t>({0, 2, 2, 5, 6}), std::move(last)};
}

void sample_csr_matmul(Samples& s) {
  s.add(sample_parts(s.spread({6}), s.spread({5, 3})));
  s.add(sample_parts(s.spread({6}), transpose(s.spread({1, 5}))));
  s.add({s.spread({0}), Tensor::of<int64_t>({}), Tensor::of<int64_t>({0, 0, 0}), s.spread({2, 2})});
}
void sample_csr_transposed(Samples& s) {
  s.add(sample_parts(s.spread({6}), s.spread({4, 3})), CsrAttrs{5});
  s.add({s.spread({0}), Tensor::of<int64_t>({}), Tensor::of<int64_t>({0}), s.spread({0, 2})},
        CsrAttrs{3});
}
void sample_csr_pairs(Samples& s) { s.add(sample_parts(s.spread({4, 3}), s.spread({5, 3}))); }

const Op kCsrMatmul{.name = "csr_matmul",
                    .doc = "Product of a sparse matrix in compressed rows with a dense one.",
                    .inputs = "values, columns, row_starts, weight",
                    .infer = infer_csr_matmul,
                    .vjp = vjp_csr_matmul,
                    .saves = {Saves{14, 0}, Saves{}, Saves{}, Saves{7, 0}},
                    .reference = reference_csr_matmul,
                    .samples = sample_csr_matmul};

const Op kCsrTransposedMatmul{
    .name = "csr_transposed_matmul",
    .doc =
        "Product of the transpose of a sparse matrix with a dense one; a gradient of csr_matmul.",
    .inputs = "values, columns, row_starts, g",
    .attrs = attr_info<CsrAttrs>,
    .flags = {.internal = true},
    .infer = infer_csr_transposed,
    .vjp = vjp_csr_transposed,
    .saves = {Saves{14, 0}, Saves{}, Saves{}, Saves{7, 0}},
    .reference = reference_csr_transposed,
    .samples = sample_csr_transposed};

const Op kCsrPairs{
    .name = "csr_pairs",
    .doc =
        "Scalar products of rows of g and weight where a sparse matrix has values; a gradient of "
        "csr_matmul.",
    .inputs = "g, columns, row_starts, weight",
    .flags = {.internal = true},
    .infer = infer_csr_pairs,
    .vjp = vjp_csr_pairs,
    .saves = {Saves{14, 0}, Saves{}, Saves{}, Saves{7, 0}},
    .reference = reference_csr_pairs,
    .samples = sample_csr_pairs};

}  // namespace

Tensor csr_matmul(const Tensor& values, const Tensor& columns, const Tensor& row_starts,
                  const Tensor& weight) {
  return call(kCsrMatmul, NoAttrs{}, values, columns, row_starts, weight);
}

std::span<const Op* const> sparse_rows() {
  static constexpr const Op* rows[] = {&kCsrMatmul, &kCsrTransposedMatmul, &kCsrPairs};
  return rows;
}

}  // namespace thalweg
