// Products with sparse matrices in compressed rows. The three ops are each other's gradients: with
// the sparse A [R, K], A @ w, transpose(A) @ g, and the elements of g @ transpose(w) where A has
// values. The dense matrix w is [K, N] or, as a layer's weight, transposed [N, K].

#include <algorithm>

#include <thalweg/base/threads.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/sparse.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/index_values.h"
#include "ops/infer.h"
#include "ops/reference.h"
#include "ops/row_gradient.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

constexpr const char* kTransposedDoc = "the dense matrix is [N, K], not [K, N]";

struct CsrAttrs {
  bool transposed = false;
  static auto fields() {
    return std::tuple{attr("transposed", &CsrAttrs::transposed, kTransposedDoc)};
  }
};

struct CsrGradientAttrs {
  int64_t width = 0;
  bool transposed = false;
  static auto fields() {
    return std::tuple{attr("width", &CsrGradientAttrs::width, "columns of the sparse matrix"),
                      attr("transposed", &CsrGradientAttrs::transposed, kTransposedDoc)};
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

void require_stored(const InferContext& ctx, const char* dense) {
  require_floating(ctx, 0);
  require_dims(ctx, 0, 1, "[S]");
  require_same_dtype(ctx, 0, 3);
  require_dims(ctx, 3, 2, dense);
  if (ctx.in(0).shape == ctx.in(1).shape) return;
  fail_invalid("{}: values {} and columns {} differ in shape", ctx.op().name,
               to_string(ctx.in(0).shape), to_string(ctx.in(1).shape));
}

void infer_csr_matmul(const InferContext& ctx) {
  const bool transposed = ctx.attrs<CsrAttrs>().transposed;
  infer_parts(ctx, 1, 2);
  require_stored(ctx, transposed ? "[N, K]" : "[K, N]");
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major({ctx.in(2).shape[0] - 1, ctx.in(3).shape[transposed ? 0 : 1]});
}

void infer_csr_transposed(const InferContext& ctx) {
  infer_parts(ctx, 1, 2);
  require_stored(ctx, "[R, N]");
  if (ctx.in(3).shape[0] != ctx.in(2).shape[0] - 1) {
    fail_invalid("{}: g {} has not the rows of row_starts {}", ctx.op().name,
                 to_string(ctx.in(3).shape), to_string(ctx.in(2).shape));
  }
  ctx.out().dtype = ctx.in(0).dtype;
  const CsrGradientAttrs& a = ctx.attrs<CsrGradientAttrs>();
  const int64_t n = ctx.in(3).shape[1];
  ctx.out().set_row_major(a.transposed ? Shape{n, a.width} : Shape{a.width, n});
}

void infer_csr_pairs(const InferContext& ctx) {
  infer_parts(ctx, 1, 2);
  require_floating(ctx, 0);
  require_same_dtype(ctx, 0, 3);
  require_dims(ctx, 0, 2, "[R, N]");
  const bool transposed = ctx.attrs<CsrAttrs>().transposed;
  require_dims(ctx, 3, 2, transposed ? "[N, K]" : "[K, N]");
  const Shape &g = ctx.in(0).shape, &weight = ctx.in(3).shape;
  if (g[1] != weight[transposed ? 0 : 1] || g[0] != ctx.in(2).shape[0] - 1) {
    fail_invalid("{}: g {} does not fit weight {} and row_starts {}", ctx.op().name, to_string(g),
                 to_string(weight), to_string(ctx.in(2).shape));
  }
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(ctx.in(1).shape);
}

int64_t width_of(const TensorMeta& dense, bool transposed) { return dense.shape[transposed]; }

// The gradient of the dense matrix where the sparse one has columns: the same sums, with the
// columns numbered anew.
RowGradient touched_gradient(VjpContext& ctx, bool transposed) {
  const TouchedRows touched = touched_rows(ctx.input(1));
  const CsrGradientAttrs a{touched.indices.size(), false};
  return {transposed ? 1 : 0, touched.indices,
          call(kCsrTransposedMatmul, a, ctx.input(0), touched.places, ctx.input(2), ctx.grad())};
}

void vjp_csr_matmul(VjpContext& ctx) {
  const CsrAttrs a = ctx.attrs<CsrAttrs>();
  const Tensor& g = ctx.grad();
  if (ctx.needs(0)) ctx.set(0, call(kCsrPairs, a, g, ctx.input(1), ctx.input(2), ctx.input(3)));
  if (ctx.takes_rows(3)) {
    ctx.set_rows(3, touched_gradient(ctx, a.transposed));
  } else if (ctx.needs(3)) {
    const CsrGradientAttrs wide{width_of(ctx.input_meta(3), a.transposed), a.transposed};
    ctx.set(3, call(kCsrTransposedMatmul, wide, ctx.input(0), ctx.input(1), ctx.input(2), g));
  }
}

void vjp_csr_transposed(VjpContext& ctx) {
  const CsrAttrs a{ctx.attrs<CsrGradientAttrs>().transposed};
  const Tensor& h = ctx.grad();
  if (ctx.needs(0)) ctx.set(0, call(kCsrPairs, a, ctx.input(3), ctx.input(1), ctx.input(2), h));
  if (ctx.needs(3)) ctx.set(3, call(kCsrMatmul, a, ctx.input(0), ctx.input(1), ctx.input(2), h));
}

void vjp_csr_pairs(VjpContext& ctx) {
  const CsrAttrs a = ctx.attrs<CsrAttrs>();
  const CsrGradientAttrs wide{width_of(ctx.input_meta(3), a.transposed), a.transposed};
  const Tensor& u = ctx.grad();
  if (ctx.needs(0)) ctx.set(0, call(kCsrMatmul, a, u, ctx.input(1), ctx.input(2), ctx.input(3)));
  if (ctx.needs(3))
    ctx.set(3, call(kCsrTransposedMatmul, wide, u, ctx.input(1), ctx.input(2), ctx.input(0)));
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
  explicit Matrix(const TensorImpl& in, bool transposed = false)
      : data(in.as<T>()),
        row_stride(in.meta.strides[transposed]),
        column_stride(in.meta.strides[!transposed]) {}
  double at(int64_t row, int64_t column) const {
    return as_double(data[row * row_stride + column * column_stride]);
  }
  /// sums[k] += value * at(row, k) for k in [first, end).
  void add_row(double value, int64_t row, int64_t first, int64_t end, double* sums) const {
    const T* from = data + row * row_stride;
    if (column_stride == 1) {
      for (int64_t k = first; k < end; ++k) sums[k] += value * as_double(from[k]);
    } else {
      for (int64_t k = first; k < end; ++k) sums[k] += value * as_double(from[k * column_stride]);
    }
  }
};

constexpr double kElementNs = 1;
constexpr int64_t kColumnsOfTile = 256;

void reference_csr_matmul(const KernelContext& ctx) {
  const bool transposed = ctx.attrs<CsrAttrs>().transposed;
  const CsrParts parts(ctx, width_of(ctx.in(3).meta, transposed));
  const int64_t n = ctx.out().meta.shape[1];
  const int64_t rows = CsrParts::rows(ctx);
  const int64_t step = ctx.in(0).meta.strides[0];
  const double row_ns = kElementNs * static_cast<double>(n) *
                        static_cast<double>(ctx.in(0).meta.size() / std::max<int64_t>(1, rows) + 1);
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* values = ctx.in(0).as<T>();
    const Matrix<T> weight(ctx.in(3), transposed);
    T* out = ctx.out().as<T>();
    parallel_ranges(rows, 16, row_ns, [&](int64_t begin, int64_t end) {
      Scratch<double> sums(n);
      for (int64_t r = begin; r < end; ++r) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (int64_t i = parts.start(r); i < parts.start(r + 1); ++i)
          weight.add_row(as_double(values[i * step]), parts.column(i), 0, n, sums.begin());
        for (int64_t k = 0; k < n; ++k) out[r * n + k] = static_cast<T>(sums[k]);
      }
    });
  });
}

void reference_csr_transposed(const KernelContext& ctx) {
  const CsrGradientAttrs& a = ctx.attrs<CsrGradientAttrs>();
  const CsrParts parts(ctx, a.width);
  const int64_t n = ctx.in(3).meta.shape[1];
  const int64_t step = ctx.in(0).meta.strides[0];
  const int64_t tiles = (n + kColumnsOfTile - 1) / kColumnsOfTile;
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* values = ctx.in(0).as<T>();
    const Matrix<T> g(ctx.in(3));
    Scratch<double> sums(a.width * n, 0.0);
    // A tile is a block of columns: it meets the rows in their order.
    const double tile_ns = kElementNs * static_cast<double>(ctx.in(0).meta.size()) * kColumnsOfTile;
    parallel_tiles(tiles, tile_ns, [&](int64_t tile) {
      const int64_t first = tile * kColumnsOfTile, end = std::min(n, first + kColumnsOfTile);
      for (int64_t r = 0; r < CsrParts::rows(ctx); ++r) {
        for (int64_t i = parts.start(r); i < parts.start(r + 1); ++i)
          g.add_row(as_double(values[i * step]), r, first, end, sums.begin() + parts.column(i) * n);
      }
    });
    T* out = ctx.out().as<T>();
    const int64_t to_row = a.transposed ? 1 : n, to_column = a.transposed ? a.width : 1;
    for (int64_t row = 0; row < a.width; ++row) {
      for (int64_t k = 0; k < n; ++k)
        out[row * to_row + k * to_column] = static_cast<T>(sums[row * n + k]);
    }
  });
}

void reference_csr_pairs(const KernelContext& ctx) {
  const bool transposed = ctx.attrs<CsrAttrs>().transposed;
  const CsrParts parts(ctx, width_of(ctx.in(3).meta, transposed));
  const int64_t n = ctx.in(0).meta.shape[1];
  visit_floating(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> g(ctx.in(0)), weight(ctx.in(3), transposed);
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
  s.add(sample_parts(s.spread({6}), s.spread({5, 3})), CsrAttrs{});
  s.add(sample_parts(s.spread({6}), transpose(s.spread({1, 5}))), CsrAttrs{});
  s.add(sample_parts(s.spread({6}), s.spread({3, 5})), CsrAttrs{true});
  s.add({s.spread({0}), Tensor::of<int64_t>({}), Tensor::of<int64_t>({0, 0, 0}), s.spread({2, 2})},
        CsrAttrs{});
}
void sample_csr_transposed(Samples& s) {
  s.add(sample_parts(s.spread({6}), s.spread({4, 3})), CsrGradientAttrs{5});
  s.add(sample_parts(s.spread({6}), s.spread({4, 3})), CsrGradientAttrs{5, true});
  s.add({s.spread({0}), Tensor::of<int64_t>({}), Tensor::of<int64_t>({0}), s.spread({0, 2})},
        CsrGradientAttrs{3});
}
void sample_csr_pairs(Samples& s) {
  s.add(sample_parts(s.spread({4, 3}), s.spread({5, 3})), CsrAttrs{});
  s.add(sample_parts(s.spread({4, 3}), s.spread({3, 5})), CsrAttrs{true});
}

const Op kCsrMatmul{.name = "csr_matmul",
                    .doc = "Product of a sparse matrix in compressed rows with a dense one.",
                    .inputs = "values, columns, row_starts, weight",
                    .attrs = attr_info<CsrAttrs>,
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
    .attrs = attr_info<CsrGradientAttrs>,
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
    .attrs = attr_info<CsrAttrs>,
    .flags = {.internal = true},
    .infer = infer_csr_pairs,
    .vjp = vjp_csr_pairs,
    .saves = {Saves{14, 0}, Saves{}, Saves{}, Saves{7, 0}},
    .reference = reference_csr_pairs,
    .samples = sample_csr_pairs};

// x @ dense, with the axes of x before its last.
Tensor product(const char* operation, const CsrTensor& x, const Tensor& dense, bool transposed) {
  if (x.shape.empty() || !x.defined())
    fail_invalid("{}: the sparse matrix has shape {}; expected [..., K]", operation,
                 to_string(x.shape));
  if (dense.dims() != 2 || dense.shape()[transposed] != x.shape.back())
    fail_invalid("{}: inner dimensions differ: sparse {} and dense {}{}; expected {}", operation,
                 to_string(x.shape), to_string(dense.shape()), transposed ? " transposed" : "",
                 transposed ? "[N, K]" : "[K, N]");
  const Tensor flat =
      call(kCsrMatmul, CsrAttrs{transposed}, x.values, x.columns, x.row_starts, dense);
  if (x.shape.size() == 2) {
    if (flat.shape()[0] == x.shape[0]) return flat;
  }
  Shape shape = x.shape;
  shape.back() = flat.shape()[1];
  if (element_count(shape) != flat.size())
    fail_invalid("{}: row_starts {} do not fit a sparse matrix of shape {}", operation,
                 to_string(x.row_starts.shape()), to_string(x.shape));
  return reshape(flat, shape);
}

}  // namespace

Tensor csr_matmul(const Tensor& values, const Tensor& columns, const Tensor& row_starts,
                  const Tensor& weight) {
  return call(kCsrMatmul, CsrAttrs{}, values, columns, row_starts, weight);
}

Tensor matmul(const CsrTensor& a, const Tensor& b) { return product("matmul", a, b, false); }

Tensor linear(const CsrTensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor y = product("linear", x, weight, true);
  return bias.defined() ? y + bias : y;
}

std::span<const Op* const> sparse_rows() {
  static constexpr const Op* rows[] = {&kCsrMatmul, &kCsrTransposedMatmul, &kCsrPairs};
  return rows;
}

}  // namespace thalweg
