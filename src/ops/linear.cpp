#include <thalweg/ops/call.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/samples.h"
#include "ops/scalar.h"
#include "ops/table.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

// --- matmul: [..., M, K] @ [..., K, N], at least 2-d each ---
void infer_matmul(const InferContext& ctx) {
  const TensorMeta &a = ctx.in(0), &b = ctx.in(1);
  require_number(ctx, 0);
  require_same_dtype(ctx, 0, 1);
  const size_t na = a.shape.size(), nb = b.shape.size();
  if (a.shape[na - 1] != b.shape[nb - 2]) {
    fail_invalid("matmul: inner dimensions differ: lhs {} @ rhs {} ({} != {})", to_string(a.shape),
                 to_string(b.shape), a.shape[na - 1], b.shape[nb - 2]);
  }
  Shape shape = broadcast_shapes("matmul", Shape(std::span<const int64_t>(a.shape).first(na - 2)),
                                 Shape(std::span<const int64_t>(b.shape).first(nb - 2)));
  shape.push_back(a.shape[na - 2]);
  shape.push_back(b.shape[nb - 1]);
  ctx.out().dtype = a.dtype;
  ctx.out().set_row_major(shape);
}

// Products are summed in f64 for floating elements, so that fast kernels have an exact yardstick.
template <typename T>
using Accumulator =
    std::conditional_t<std::is_floating_point_v<ComputeType<T>>, double, ComputeType<T>>;

struct MatrixView {
  int64_t rows, columns, row_stride, column_stride;
};

MatrixView last_two(const TensorMeta& m) {
  const size_t n = m.shape.size();
  return {m.shape[n - 2], m.shape[n - 1], m.strides[n - 2], m.strides[n - 1]};
}

template <typename T>
void multiply(T* out, const MatrixView& o, const T* a, const MatrixView& va, const T* b,
              const MatrixView& vb) {
  for (int64_t i = 0; i < o.rows; ++i) {
    for (int64_t j = 0; j < o.columns; ++j) {
      Accumulator<T> total = 0;
      for (int64_t k = 0; k < va.columns; ++k) {
        total += static_cast<Accumulator<T>>(
                     static_cast<ComputeType<T>>(a[i * va.row_stride + k * va.column_stride])) *
                 static_cast<Accumulator<T>>(
                     static_cast<ComputeType<T>>(b[k * vb.row_stride + j * vb.column_stride]));
      }
      out[i * o.row_stride + j * o.column_stride] = static_cast<T>(total);
    }
  }
}

// Position of batch `index` (row-major over out's leading axes) in an operand that broadcasts.
int64_t batch_position(const TensorMeta& m, const TensorMeta& out, int64_t index) {
  int64_t position = 0;
  for (size_t from_right = 3; from_right <= out.shape.size(); ++from_right) {
    const int64_t size = out.shape[out.shape.size() - from_right];
    const int64_t i = index % size;
    index /= size;
    if (from_right > m.shape.size()) continue;
    const size_t axis = m.shape.size() - from_right;
    if (m.shape[axis] != 1) position += i * m.strides[axis];
  }
  return position;
}

void reference_matmul(const KernelContext& ctx) {
  const TensorMeta &o = ctx.out().meta, &a = ctx.in(0).meta, &b = ctx.in(1).meta;
  if (o.size() == 0) return;
  const MatrixView vo = last_two(o), va = last_two(a), vb = last_two(b);
  const int64_t batches = o.size() / (vo.rows * vo.columns);
  visit_dtype(o.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < batches; ++i) {
      multiply(ctx.out().as<T>() + batch_position(o, o, i), vo,
               ctx.in(0).as<T>() + batch_position(a, o, i), va,
               ctx.in(1).as<T>() + batch_position(b, o, i), vb);
    }
  });
}

void vjp_matmul(VjpContext& ctx) {
  const Tensor& g = ctx.grad();
  if (ctx.needs(0)) {
    ctx.set(0, sum_to(matmul(g, transpose(ctx.input(1))), ctx.input_meta(0).shape));
  }
  if (ctx.needs(1)) {
    ctx.set(1, sum_to(matmul(transpose(ctx.input(0)), g), ctx.input_meta(1).shape));
  }
}

void sample_matmul(Samples& s) {
  s.add({s.spread({3, 4}), s.spread({4, 5})});
  s.add({s.spread({2, 3, 4}), s.spread({4, 2})});
  s.add({s.spread({2, 1, 3, 4}), s.spread({3, 4, 2})});
  s.add({transpose(s.spread({4, 3})), transpose(s.spread({5, 4}))});
  s.add({s.spread({0, 3}), s.spread({3, 2})});
  s.add({s.spread({2, 0}), s.spread({0, 2})});
  s.add({s.spread({37, 65}, -1, 1), s.spread({65, 33}, -1, 1)});
}

const Op kMatmul{.name = "matmul",
                 .doc = "The matrix product over the last two axes; the others broadcast.",
                 .inputs = "a, b",
                 .infer = infer_matmul,
                 .vjp = vjp_matmul,
                 .saves = {Saves{2, 0}, Saves{1, 0}},
                 .reference = reference_matmul,
                 .samples = sample_matmul};

// --- linear: x [..., K], weight [N, K], bias [N] ---
void infer_linear(const InferContext& ctx) {
  require_floating(ctx, 0);
  require_same_dtype(ctx, 0, 1);
  require_dims(ctx, 1, 2, "[out, in]");
  const Shape &x = ctx.in(0).shape, &w = ctx.in(1).shape;
  if (x.empty() || x.back() != w[1]) {
    fail_invalid("linear: the last dimension of x {} is not the weight's {} ({} != {})",
                 to_string(x), to_string(w), x.empty() ? 0 : x.back(), w[1]);
  }
  if (ctx.has(2)) {
    require_same_dtype(ctx, 0, 2);
    if (ctx.in(2).shape.size() != 1 || ctx.in(2).shape[0] != w[0]) {
      fail_invalid("linear: bias {} does not fit weight {}; expected [{}]",
                   to_string(ctx.in(2).shape), to_string(w), w[0]);
    }
  }
  Shape shape = x;
  shape.back() = w[0];
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(shape);
}

void reference_linear(const KernelContext& ctx) {
  const TensorMeta &x = ctx.in(0).meta, &w = ctx.in(1).meta;
  const int64_t n = w.shape[0], k = w.shape[1];
  visit_dtype(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      T* out = ctx.out().as<T>();
      const T *in = ctx.in(0).as<T>(), *weight = ctx.in(1).as<T>();
      const T* bias = ctx.has(2) ? ctx.in(2).as<T>() : nullptr;
      const int64_t bias_stride = bias ? ctx.in(2).meta.strides[0] : 0;
      const auto at = [](T value) {
        return static_cast<double>(static_cast<ComputeType<T>>(value));
      };
      // One x row is one row of the walk, over its last axis.
      for_each_row(ctx.out().meta, x, [&](int64_t o, int64_t i, int64_t, int64_t, int64_t xs) {
        for (int64_t j = 0; j < n; ++j) {
          double total = bias ? at(bias[j * bias_stride]) : 0;
          for (int64_t p = 0; p < k; ++p) {
            total += at(in[i + p * xs]) * at(weight[j * w.strides[0] + p * w.strides[1]]);
          }
          out[o + j] = static_cast<T>(total);
        }
      });
    }
  });
}

// The gradients for rows of x and of the result.
void set_weight_gradients(VjpContext& ctx, const Tensor& x, const Tensor& g) {
  if (ctx.needs(1)) ctx.set(1, matmul(transpose(g), x));
  if (ctx.needs(2)) ctx.set(2, sum(g, {0}));
}

Tensor as_rows(const Tensor& x) { return x.defined() ? reshape(x, {-1, x.shape().back()}) : x; }

void vjp_linear(VjpContext& ctx) {
  const Tensor& g = ctx.grad();
  if (ctx.needs(0)) ctx.set(0, matmul(g, ctx.input(1)));
  if (g.dims() == 2)
    set_weight_gradients(ctx, ctx.input(0), g);
  else
    set_weight_gradients(ctx, as_rows(ctx.input(0)), as_rows(g));
}

void sample_linear(Samples& s) {
  s.add({s.spread({5, 3}), s.spread({4, 3}), s.spread({4})});
  s.add({s.spread({2, 5, 3}), s.spread({4, 3}), Tensor()});
  s.add({s.spread({3}), s.spread({2, 3}), s.spread({2})});
  s.add({s.spread({0, 3}), s.spread({4, 3}), s.spread({4})});
  s.add({s.spread({64, 33}, -1, 1), s.spread({40, 33}, -1, 1), s.spread({40})});
}

const Op kLinear{.name = "linear",
                 .doc = "x times the transpose of weight, plus bias.",
                 .inputs = "x, weight, bias?",
                 .infer = infer_linear,
                 .vjp = vjp_linear,
                 .saves = {Saves{2, 0}, Saves{1, 0}, Saves{}},
                 .reference = reference_linear,
                 .samples = sample_linear};

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.dims() == 0 || b.dims() == 0) {
    fail_invalid("matmul: 0-d operand: lhs {} @ rhs {}; use a * b", to_string(a.shape()),
                 to_string(b.shape()));
  }
  if (a.dtype() != b.dtype()) {
    const DType common = promote(a.dtype(), b.dtype());
    return matmul(a.to(common), b.to(common));
  }
  if (a.dims() == 1) return squeeze(matmul(expand_dims(a, 0), b), {b.dims() == 1 ? 0 : -2});
  if (b.dims() == 1) return squeeze(matmul(a, expand_dims(b, 1)), {-1});
  return call(kMatmul, NoAttrs{}, a, b);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return call(kLinear, NoAttrs{}, x, weight, bias);
}

std::span<const Op* const> linear_rows() {
  static constexpr const Op* rows[] = {&kMatmul, &kLinear};
  return rows;
}

}  // namespace thalweg
