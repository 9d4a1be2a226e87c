#include "ops/pool.h"

#include <thalweg/ops/call.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pool.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/layout.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

// The number of windows of each axis, for the output of x's shape.
template <typename Attrs>
Shape pooled_shape(const InferContext& ctx, const Shape& x, const Attrs& a) {
  Shape shape{x[0], x[1]};
  for (size_t i = 0; i < a.kernel.size(); ++i) {
    const int64_t room = x[i + 2] + 2 * a.padding[i] - a.kernel[i];
    if (x[i + 2] == 0) {
      fail_invalid("{}: axis {} of x {} is empty", ctx.op().name, i + 2, to_string(x));
    }
    if (room < 0) {
      fail_invalid("{}: the kernel is larger than the padded input on axis {} ({} > {}); x {}, {}",
                   ctx.op().name, i + 2, a.kernel[i], room + a.kernel[i], to_string(x),
                   to_string(attr_info<Attrs>(), &a));
    }
    int64_t windows = room / a.stride[i] + 1;
    if (a.ceil_mode && room % a.stride[i] != 0) {
      const bool starts_inside = windows * a.stride[i] < x[i + 2] + a.padding[i];
      windows += starts_inside;
    }
    shape.push_back(windows);
  }
  return shape;
}

template <typename Attrs>
void check_window(const InferContext& ctx, const Attrs& a) {
  const size_t axes = spatial_axes(ctx.op().name, ctx.in(0).shape);
  check_setting(ctx, "kernel", a.kernel, axes, 1);
  check_setting(ctx, "stride", a.stride, axes, 1);
  check_setting(ctx, "padding", a.padding, axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    if (2 * a.padding[i] > a.kernel[i]) {
      fail_invalid("{}: padding {} is more than half the kernel {}; a window could be all padding",
                   ctx.op().name, to_string(a.padding), to_string(a.kernel));
    }
  }
}

// --- max_pool ---
void infer_max_pool(const InferContext& ctx) {
  require_number(ctx, 0);
  const MaxPoolAttrs& a = ctx.attrs<MaxPoolAttrs>();
  check_window(ctx, a);
  TensorMeta &values = ctx.out(0), &indices = ctx.out(1);
  values.dtype = ctx.in(0).dtype;
  values.shape = pooled_shape(ctx, ctx.in(0).shape, a);
  values.strides = channels_last_strides(values.shape);
  indices.dtype = DType::i64;
  indices.shape = values.shape;
  indices.strides = values.strides;
}

Tensor flat_spatial(const Tensor& x) {
  return reshape(x, {x.shape()[0], x.shape()[1], element_count(x.shape()) == 0 ? 0 : -1});
}

void vjp_max_pool(VjpContext& ctx) {
  const Shape& x = ctx.input_meta(0).shape;
  int64_t area = 1;
  for (size_t i = 2; i < x.size(); ++i) area *= x[i];
  const Tensor g = flat_spatial(ctx.grad()), indices = flat_spatial(ctx.output(1));
  ctx.set(0, reshape(scatter_add_to_zeros(g, indices, 2, area), x));
}

void sample_max_pool(Samples& s) {
  s.add({s.spread({2, 3, 7})}, MaxPoolAttrs{{3}, {2}, {1}, false});
  s.add({s.spread({1, 2, 5, 6})}, MaxPoolAttrs{{2, 3}, {2, 2}, {0, 1}, true});
  s.add({permute(s.spread({2, 4, 4, 3}), {0, 3, 1, 2})}, MaxPoolAttrs{{2, 2}, {2, 2}, {0, 0}});
  s.add({s.spread({1, 2, 3, 4, 3})}, MaxPoolAttrs{{2, 2, 3}, {1, 2, 1}, {0, 0, 1}, false});
  s.add({s.spread({0, 2, 4})}, MaxPoolAttrs{{2}, {2}, {0}, false});
}

const Op kMaxPool{.name = "max_pool",
                  .doc = "The largest element of each window of the spatial axes, and where it is.",
                  .inputs = "x",
                  .attrs = attr_info<MaxPoolAttrs>,
                  .outputs = 2,
                  .infer = infer_max_pool,
                  .vjp = vjp_max_pool,
                  .saves = {Saves{0, 2}},
                  .reference = reference_max_pool,
                  .samples = sample_max_pool};

// --- avg_pool, and its gradient ---
void infer_avg_pool(const InferContext& ctx) {
  require_floating(ctx, 0);
  const AvgPoolAttrs& a = ctx.attrs<AvgPoolAttrs>();
  check_window(ctx, a);
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().shape = pooled_shape(ctx, ctx.in(0).shape, a);
  ctx.out().strides = channels_last_strides(ctx.out().shape);
}

void infer_avg_pool_gradient(const InferContext& ctx) {
  require_floating(ctx, 0);
  const AvgPoolAttrs& a = ctx.attrs<AvgPoolAttrs>();
  check_window(ctx, a);
  check_setting(ctx, "size", a.size, a.kernel.size(), 0);
  const Shape& g = ctx.in(0).shape;
  Shape x{g[0], g[1]};
  for (int64_t size : a.size) x.push_back(size);
  if (pooled_shape(ctx, x, a) != g) {
    fail_invalid("avg_pool_gradient: g {} is no result of pooling {} with {}", to_string(g),
                 to_string(x), to_string(attr_info<AvgPoolAttrs>(), &a));
  }
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().shape = x;
  ctx.out().strides = channels_last_strides(x);
}

void sample_avg_pool(Samples& s) {
  s.add({s.spread({2, 3, 7})}, AvgPoolAttrs{{3}, {2}, {1}, {}, false, true});
  s.add({s.spread({1, 2, 5, 6})}, AvgPoolAttrs{{2, 3}, {2, 2}, {0, 1}, {}, true, false});
  s.add({permute(s.spread({2, 4, 4, 3}), {0, 3, 1, 2})},
        AvgPoolAttrs{{2, 2}, {2, 2}, {1, 0}, {}, true, true});
  s.add({s.spread({1, 2, 3, 4, 3})},
        AvgPoolAttrs{{2, 2, 3}, {1, 2, 1}, {0, 0, 1}, {}, false, false});
  s.add({s.spread({0, 2, 4})}, AvgPoolAttrs{{2}, {2}, {0}, {}, false, true});
}

void sample_avg_pool_gradient(Samples& s) {
  s.add({s.spread({2, 3, 4})}, AvgPoolAttrs{{3}, {2}, {1}, {7}, false, true});
  s.add({permute(s.spread({1, 3, 4, 2}), {0, 3, 1, 2})},
        AvgPoolAttrs{{2, 3}, {2, 2}, {0, 1}, {5, 6}, true, false});
}

extern const Op kAvgPool, kAvgPoolGradient;

void vjp_avg_pool(VjpContext& ctx) {
  AvgPoolAttrs a = ctx.attrs<AvgPoolAttrs>();
  a.size = Dims(std::span<const int64_t>(ctx.input_meta(0).shape).subspan(2));
  ctx.set(0, call(kAvgPoolGradient, a, ctx.grad()));
}

const Op kAvgPool{.name = "avg_pool",
                  .doc = "The mean of each window of the spatial axes.",
                  .inputs = "x",
                  .attrs = attr_info<AvgPoolAttrs>,
                  .infer = infer_avg_pool,
                  .vjp = vjp_avg_pool,
                  .reference = reference_avg_pool,
                  .samples = sample_avg_pool};

const Op kAvgPoolGradient{
    .name = "avg_pool_gradient",
    .doc =
        "Spreads each element evenly over the window it is the mean of; the gradient of "
        "avg_pool.",
    .inputs = "g",
    .attrs = attr_info<AvgPoolAttrs>,
    .flags = {.internal = true},
    .infer = infer_avg_pool_gradient,
    .vjp =
        [](VjpContext& ctx) { ctx.set(0, call(kAvgPool, ctx.attrs<AvgPoolAttrs>(), ctx.grad())); },
    .reference = reference_avg_pool_gradient,
    .samples = sample_avg_pool_gradient};

// --- the problem that kernels see ---
template <typename Attrs>
PoolProblem make_problem(const Attrs& a, const TensorMeta& x, const TensorMeta& y) {
  PoolProblem p{};
  p.batch = x.shape[0];
  p.channels = x.shape[1];
  p.x = spatial_strides(x);
  p.y = spatial_strides(y);
  const size_t skip = 3 - a.kernel.size();
  for (size_t i = 0; i < 3; ++i) {
    const bool real = i >= skip;
    const size_t axis = i - skip;
    p.in[i] = real ? x.shape[axis + 2] : 1;
    p.out[i] = real ? y.shape[axis + 2] : 1;
    p.kernel[i] = real ? a.kernel[axis] : 1;
    p.stride[i] = real ? a.stride[axis] : 1;
    p.padding[i] = real ? a.padding[axis] : 0;
  }
  return p;
}

Dims stride_of(const char* name, const PerAxis& stride, const Dims& kernel) {
  Dims result = stride.expand(name, "stride", kernel.size());
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 0) result[i] = kernel[i];
  }
  return result;
}

MaxPoolAttrs attrs_of(const Tensor& x, const MaxPoolOptions& o) {
  const size_t axes = spatial_axes("max_pool", x);
  const Dims kernel = o.kernel.expand("max_pool", "kernel", axes);
  return {kernel, stride_of("max_pool", o.stride, kernel),
          o.padding.expand("max_pool", "padding", axes), o.ceil_mode};
}

}  // namespace

PoolProblem pool_problem(const KernelContext& ctx) {
  const TensorMeta &in = ctx.in(0).meta, &out = ctx.out().meta;
  if (&ctx.op() == &kMaxPool) return make_problem(ctx.attrs<MaxPoolAttrs>(), in, out);
  if (&ctx.op() == &kAvgPool) return make_problem(ctx.attrs<AvgPoolAttrs>(), in, out);
  return make_problem(ctx.attrs<AvgPoolAttrs>(), out, in);
}

MaxPoolResult max_pool_with_indices(const Tensor& x, const MaxPoolOptions& options) {
  const MaxPoolAttrs a = attrs_of(x, options);
  const TensorImpl* const in[] = {x.impl()};
  std::vector<Tensor> results = call_many(kMaxPool, &a, in);
  return {std::move(results[0]), std::move(results[1])};
}

Tensor max_pool(const Tensor& x, const MaxPoolOptions& options) {
  return max_pool_with_indices(x, options).values;
}

Tensor avg_pool(const Tensor& x, const AvgPoolOptions& o) {
  const size_t axes = spatial_axes("avg_pool", x);
  const Dims kernel = o.kernel.expand("avg_pool", "kernel", axes);
  return call(kAvgPool,
              AvgPoolAttrs{kernel, stride_of("avg_pool", o.stride, kernel),
                           o.padding.expand("avg_pool", "padding", axes), Dims(), o.ceil_mode,
                           o.count_include_pad},
              x);
}

Tensor global_max_pool(const Tensor& x) {
  spatial_axes("global_max_pool", x);
  return max_pool(x, {.kernel = Dims(std::span<const int64_t>(x.shape()).subspan(2))});
}

Tensor global_avg_pool(const Tensor& x) {
  Dims axes;
  for (size_t i = 0; i < spatial_axes("global_avg_pool", x); ++i) {
    axes.push_back(static_cast<int64_t>(i) + 2);
  }
  return mean(x, axes, true);
}

std::span<const Op* const> pool_rows() {
  static constexpr const Op* rows[] = {&kMaxPool, &kAvgPool, &kAvgPoolGradient};
  return rows;
}

}  // namespace thalweg
