#include <cmath>

#include "ops/norm.h"
#include "ops/reference.h"

namespace thalweg {
namespace {

// A meta of `shape` over a row-major array of shape `small`, which has size 1 where it repeats.
TensorMeta repeated(const Shape& small, const Shape& shape) {
  TensorMeta m;
  m.shape = shape;
  m.strides = row_major_strides(small);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (small[i] == 1) m.strides[i] = 0;
  }
  return m;
}

struct Statistics {
  Scratch<double> mean, var;
};

template <typename T>
Statistics statistics(const T* x, const TensorMeta& meta, const TensorMeta& of,
                      const NormSettings& s) {
  const int64_t results = element_count(s.axes.folded_shape());
  const auto n = static_cast<double>(s.axes.folded_count());
  Statistics r{Scratch<double>(results, 0.0), Scratch<double>(results, 0.0)};
  if (meta.size() == 0) return r;
  if (s.centered) {
    for_each_position<2>({&meta, &of}, kNoAxis,
                         [&](const auto& at) { r.mean[at[1]] += as_double(x[at[0]]); });
    for (double& mean : r.mean) mean /= n;
  }
  for_each_position<2>({&meta, &of}, kNoAxis, [&](const auto& at) {
    const double distance = as_double(x[at[0]]) - r.mean[at[1]];
    r.var[at[1]] += distance * distance;
  });
  for (double& var : r.var) var /= n;
  return r;
}

Scratch<double> parameter(const KernelContext& ctx, size_t i, const NormAxes& axes, double absent) {
  return ctx.has(i) ? to_doubles(ctx.in(i))
                    : Scratch<double>(element_count(axes.scaled_shape()), absent);
}

void store(const TensorImpl& out, Scratch<double>& values) {
  visit_floating(out.meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < values.size(); ++i) out.as<T>()[i] = static_cast<T>(values[i]);
  });
}

}  // namespace

void reference_norm(const KernelContext& ctx, const NormSettings& s) {
  const TensorMeta x = s.axes.view(ctx.in(0).meta), y = s.axes.view(ctx.out().meta);
  const TensorMeta statistic = repeated(s.axes.folded_shape(), x.shape);
  const TensorMeta scale = repeated(s.axes.scaled_shape(), x.shape);
  const Scratch<double> weight = parameter(ctx, 1, s.axes, 1), bias = parameter(ctx, 2, s.axes, 0);
  visit_floating(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    Statistics r = statistics(ctx.in(0).as<T>(), x, statistic, s);
    for_each_position<4>({&x, &y, &statistic, &scale}, kNoAxis, [&](const auto& at) {
      const double centered = as_double(ctx.in(0).as<T>()[at[0]]) - r.mean[at[2]];
      const double normal = centered / std::sqrt(r.var[at[2]] + s.epsilon);
      ctx.out().as<T>()[at[1]] = static_cast<T>(normal * weight[at[3]] + bias[at[3]]);
    });
    if (ctx.outputs() < 3) return;
    store(ctx.out(1), r.mean);
    store(ctx.out(2), r.var);
  });
}

void reference_norm_vjp(const KernelContext& ctx, const NormSettings& s) {
  const TensorMeta g = s.axes.view(ctx.in(0).meta), x = s.axes.view(ctx.in(1).meta);
  const TensorMeta dx = s.axes.view(ctx.out().meta);
  const TensorMeta statistic = repeated(s.axes.folded_shape(), x.shape);
  const TensorMeta scale = repeated(s.axes.scaled_shape(), x.shape);
  const Scratch<double> weight = parameter(ctx, 2, s.axes, 1);
  Scratch<double> dweight(weight.size(), 0.0), dbias(weight.size(), 0.0);
  const auto n = static_cast<double>(s.axes.folded_count());
  visit_floating(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Statistics r = statistics(ctx.in(1).as<T>(), x, statistic, s);
    Scratch<double> sum(r.mean.size(), 0.0), product_sum(r.mean.size(), 0.0);
    // f(the gradient of y, x normalised, 1 / deviation, positions)
    const auto for_each = [&](auto&& f) {
      for_each_position<5>({&g, &x, &dx, &statistic, &scale}, kNoAxis, [&](const auto& at) {
        const double rate = 1 / std::sqrt(r.var[at[3]] + s.epsilon);
        f(as_double(ctx.in(0).as<T>()[at[0]]),
          (as_double(ctx.in(1).as<T>()[at[1]]) - r.mean[at[3]]) * rate, rate, at);
      });
    };
    for_each([&](double grad, double normal, double, const auto& at) {
      dbias[at[4]] += grad;
      dweight[at[4]] += grad * normal;
      sum[at[3]] += grad * weight[at[4]];
      product_sum[at[3]] += grad * weight[at[4]] * normal;
    });
    for_each([&](double grad, double normal, double rate, const auto& at) {
      const double mean = s.centered ? sum[at[3]] / n : 0;
      const double value = grad * weight[at[4]] - mean - normal * product_sum[at[3]] / n;
      ctx.out().as<T>()[at[2]] = static_cast<T>(rate * value);
    });
  });
  if (ctx.outputs() > 1) store(ctx.out(1), dweight);
  if (ctx.outputs() > 2) store(ctx.out(2), dbias);
}

}  // namespace thalweg
