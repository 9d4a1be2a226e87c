// prod. Its gradient needs, for each element, the product of the others, which is not the product
// divided by the element where that is 0.

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "ops/reduce.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

void reference_prod(const KernelContext& ctx) {
  visit_dtype(ctx.in(0).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* in = ctx.in(0).as<T>();
    auto* out = ctx.out().as<SumElement<T>>();
    for_each_reduction(ctx, [&](int64_t o, const ReducedElements& elements) {
      SumType<T> total = 1;
      elements.visit(
          [&](int64_t i) { total *= static_cast<SumType<T>>(static_cast<ComputeType<T>>(in[i])); });
      out[o] = static_cast<SumElement<T>>(total);
    });
  });
}

// --- prod_vjp: grad [rows, 1], x [rows, n], both row-major ---
void infer_prod_vjp(const InferContext& ctx) {
  ctx.out().dtype = ctx.in(1).dtype;
  ctx.out().set_row_major(ctx.in(1).shape);
}

void reference_prod_vjp(const KernelContext& ctx) {
  const int64_t rows = ctx.in(1).meta.shape[0], n = ctx.in(1).meta.shape[1];
  visit_floating(ctx.in(1).meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    Scratch<double> before(n);
    for (int64_t r = 0; r < rows; ++r) {
      const T* x = ctx.in(1).as<T>() + r * n;
      T* out = ctx.out().as<T>() + r * n;
      double product = as_double(ctx.in(0).as<T>()[r]);
      for (int64_t i = 0; i < n; ++i) {
        before[i] = product;
        product *= as_double(x[i]);
      }
      product = 1;
      for (int64_t i = n; i-- > 0;) {
        out[i] = static_cast<T>(before[i] * product);
        product *= as_double(x[i]);
      }
    }
  });
}

const Op kProdVjp{.name = "prod_vjp",
                  .doc = "The gradient of prod.",
                  .inputs = "grad, x",
                  .flags = {.internal = true},
                  .infer = infer_prod_vjp,
                  .no_gradient = "it is a fused gradient, used where no second one is wanted",
                  .reference = reference_prod_vjp};

// x [rows, n] with columns of ones added up to a power of two.
Tensor pad_with_ones(const Tensor& x) {
  const int64_t n = x.shape()[1];
  int64_t size = 1;
  while (size < n) size *= 2;
  return size == n ? x : pad(x, {0, 0}, {0, size - n}, PadMode::constant, 1);
}

// g [rows, 1] times the product of the other elements of each row of x [rows, n], n a power of two:
// halves are multiplied by each other's element and by the same of their products.
Tensor times_others(const Tensor& g, const Tensor& x) {
  const int64_t rows = x.shape()[0], half = x.shape()[1] / 2;
  if (half == 0) return g;
  const Tensor halves = reshape(x, {rows, 2, half});
  const Tensor products = slice(halves, 1, 0, 1) * slice(halves, 1, 1, 2);
  const Tensor outer = times_others(g, reshape(products, {rows, half}));
  const Tensor swapped = slice(halves, 1, Slice::kOpen, Slice::kOpen, -1);
  return reshape(reshape(outer, {rows, 1, half}) * swapped, {rows, 2 * half});
}

// The axes of x that stay, then those that are folded.
Dims folded_last(size_t dims, const Dims& axes) {
  Dims order, last;
  size_t next = 0;
  for (size_t i = 0; i < dims; ++i) {
    const bool folded = next < axes.size() && axes[next] == static_cast<int64_t>(i);
    next += folded;
    (folded ? last : order).push_back(static_cast<int64_t>(i));
  }
  for (int64_t axis : last) order.push_back(axis);
  return order;
}

Dims inverse(const Dims& order) {
  Dims result(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = static_cast<int64_t>(i);
  return result;
}

void vjp_prod(VjpContext& ctx) {
  const Dims& axes = ctx.attrs<ReduceAttrs>().axes;
  const Tensor& x = ctx.input(0);
  if (x.size() == 0) return ctx.set(0, Tensor::zeros(x.shape(), {x.dtype(), x.device()}));
  const Dims order = folded_last(x.shape().size(), axes);
  const int64_t n = folded_count(x.shape(), axes), rows = x.size() / n;
  const Tensor moved = permute(x, order);
  const Tensor matrix = contiguous(reshape(moved, {rows, n}));
  const Tensor g = contiguous(reshape(ctx.grad(), {rows, 1}));
  const Tensor gradient = ctx.creates_graph()
                              ? slice(times_others(g, pad_with_ones(matrix)), 1, 0, n)
                              : call(kProdVjp, NoAttrs{}, g, matrix);
  ctx.set(0, permute(reshape(gradient, moved.shape()), inverse(order)));
}

void sample_prod(Samples& s) {
  sample_reduce(s);
  s.add({s.spread({5, 3}) * s.integers({5, 3}, 0, 2)}, ReduceAttrs{{0}, false});
  s.add({s.spread({2, 0})}, ReduceAttrs{{1}, true});
}

const Op kProd{.name = "prod",
               .doc = "The product of the elements along axes.",
               .inputs = "x",
               .attrs = attr_info<ReduceAttrs>,
               .flags = {.reduces = true},
               .infer = infer_sum,
               .vjp = vjp_prod,
               .saves = {Saves{1, 0}},
               .reference = reference_prod,
               .samples = sample_prod};

}  // namespace

Tensor prod(const Tensor& x, const Dims& axes, bool keepdims) {
  return call(kProd, reduce_attrs("prod", x, axes, keepdims), x);
}

std::span<const Op* const> product_rows() {
  static constexpr const Op* rows[] = {&kProd, &kProdVjp};
  return rows;
}

}  // namespace thalweg
