#include <algorithm>

#include <thalweg/ops/call.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/sort.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

struct SortAttrs {
  int64_t axis = -1;
  bool descending = false;
  static auto fields() {
    return std::tuple{attr("axis", &SortAttrs::axis, "the axis that is sorted along"),
                      attr("descending", &SortAttrs::descending, "the largest first")};
  }
};

struct TopkAttrs {
  int64_t k = 1;
  int64_t axis = -1;
  bool largest = true;
  static auto fields() {
    return std::tuple{attr("k", &TopkAttrs::k, "how many elements"),
                      attr("axis", &TopkAttrs::axis, "the axis that is searched along"),
                      attr("largest", &TopkAttrs::largest, "the largest, else the smallest")};
  }
};

void infer_lines(const InferContext& ctx, size_t axis, int64_t count) {
  Shape shape = ctx.in(0).shape;
  shape[axis] = count;
  ctx.out(0).dtype = ctx.in(0).dtype;
  ctx.out(1).dtype = DType::i64;
  for (size_t i = 0; i < 2; ++i) ctx.out(i).set_row_major(shape);
}

void infer_sort(const InferContext& ctx) {
  const Shape& shape = ctx.in(0).shape;
  const size_t axis = axis_of(ctx, ctx.attrs<SortAttrs>().axis, shape.size());
  infer_lines(ctx, axis, shape[axis]);
}

void infer_topk(const InferContext& ctx) {
  const Shape& shape = ctx.in(0).shape;
  const TopkAttrs& a = ctx.attrs<TopkAttrs>();
  const size_t axis = axis_of(ctx, a.axis, shape.size());
  if (a.k < 0 || a.k > shape[axis]) {
    fail_invalid("topk: k is {}; axis {} of shape {} has {} elements", a.k, axis, to_string(shape),
                 shape[axis]);
  }
  infer_lines(ctx, axis, a.k);
}

// The order of positions in a line of `x`, whose elements are `step` apart.
template <typename T, bool kDescending>
struct Before {
  const T* x;
  int64_t step;

  bool operator()(int64_t a, int64_t b) const {
    const auto u = static_cast<ComputeType<T>>(x[(kDescending ? b : a) * step]);
    const auto v = static_cast<ComputeType<T>>(x[(kDescending ? a : b) * step]);
    if (u < v || (u == u && v != v)) return true;
    if (v < u || (v == v && u != u)) return false;
    return a < b;
  }
};

// The first out.shape[axis] elements of each line, in order.
template <bool kDescending>
void order_lines(const KernelContext& ctx, size_t axis) {
  const TensorMeta &x = ctx.in(0).meta, &y = ctx.out().meta;
  const int64_t n = x.shape[axis], count = y.shape[axis];
  const int64_t x_step = x.strides[axis], y_step = y.strides[axis];
  Scratch<int64_t> order(n);
  visit_dtype(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_position<2>({&x, &y}, axis, [&](const auto& at) {
      const T* line = ctx.in(0).as<T>() + at[0];
      for (int64_t i = 0; i < n; ++i) order[i] = i;
      std::partial_sort(order.begin(), order.begin() + count, order.end(),
                        Before<T, kDescending>{line, x_step});
      for (int64_t i = 0; i < count; ++i) {
        ctx.out(0).as<T>()[at[1] + i * y_step] = line[order[i] * x_step];
        ctx.out(1).as<int64_t>()[at[1] + i * y_step] = order[i];
      }
    });
  });
}

void reference_sort(const KernelContext& ctx) {
  const SortAttrs& a = ctx.attrs<SortAttrs>();
  const size_t axis = axis_of(ctx, a.axis, ctx.in(0).meta.shape.size());
  a.descending ? order_lines<true>(ctx, axis) : order_lines<false>(ctx, axis);
}

void reference_topk(const KernelContext& ctx) {
  const TopkAttrs& a = ctx.attrs<TopkAttrs>();
  const size_t axis = axis_of(ctx, a.axis, ctx.in(0).meta.shape.size());
  a.largest ? order_lines<true>(ctx, axis) : order_lines<false>(ctx, axis);
}

template <typename Attrs>
void vjp_order(VjpContext& ctx) {
  const Shape& x = ctx.input_meta(0).shape;
  const int64_t axis = normalize_axis(ctx.op().name, ctx.attrs<Attrs>().axis, x.size());
  ctx.set(0, scatter_add_to_zeros(ctx.grad(), ctx.output(1), axis, x[axis]));
}

void sample_sort(Samples& s) {
  s.add({s.spread({7})}, SortAttrs{0, false});
  s.add({s.spread({3, 5})}, SortAttrs{-1, true});
  s.add({transpose(s.spread({2, 4, 3}))}, SortAttrs{1, false});
  s.add({s.spread({2, 0})}, SortAttrs{1, true});
}

void sample_topk(Samples& s) {
  s.add({s.spread({7})}, TopkAttrs{3, 0, true});
  s.add({s.spread({3, 5})}, TopkAttrs{2, -1, false});
  s.add({transpose(s.spread({2, 4, 3}))}, TopkAttrs{3, 1, true});
  s.add({s.spread({2, 3})}, TopkAttrs{0, 1, true});
}

const Op kSort{.name = "sort",
               .doc = "The elements along an axis in order, and the positions they had.",
               .inputs = "x",
               .attrs = attr_info<SortAttrs>,
               .outputs = 2,
               .infer = infer_sort,
               .vjp = vjp_order<SortAttrs>,
               .saves = {Saves{0, 2}},
               .reference = reference_sort,
               .samples = sample_sort};

const Op kTopk{.name = "topk",
               .doc = "The k largest or smallest elements along an axis, and their positions.",
               .inputs = "x",
               .attrs = attr_info<TopkAttrs>,
               .outputs = 2,
               .infer = infer_topk,
               .vjp = vjp_order<TopkAttrs>,
               .saves = {Saves{0, 2}},
               .reference = reference_topk,
               .samples = sample_topk};

Sorted sorted(const Op& op, const void* attrs, const Tensor& x) {
  const TensorImpl* const in[1] = {x.impl()};
  std::vector<Tensor> results = call_many(op, attrs, in);
  return {std::move(results[0]), std::move(results[1])};
}

}  // namespace

Sorted sort(const Tensor& x, const SortOptions& options) {
  const SortAttrs a{options.axis, options.descending};
  return sorted(kSort, &a, x);
}

Tensor argsort(const Tensor& x, const SortOptions& options) { return sort(x, options).indices; }

Sorted topk(const Tensor& x, int64_t k, const TopkOptions& options) {
  const TopkAttrs a{k, options.axis, options.largest};
  return sorted(kTopk, &a, x);
}

std::span<const Op* const> sort_rows() {
  static constexpr const Op* rows[] = {&kSort, &kTopk};
  return rows;
}

}  // namespace thalweg
