// Walks the op table: a row gives the same values and gradients whatever the strides of its inputs,
// and reads no element that is not theirs, or says that it takes no such strides.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/samples.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

namespace thalweg {
namespace {

enum class Layout { reversed_axes, every_second, backwards, inside };
constexpr Layout kLayouts[] = {Layout::reversed_axes, Layout::every_second, Layout::backwards,
                               Layout::inside};

// Elements around those of a view: NaN, so that one which is read shows.
Tensor filled(const Shape& shape, DType dtype) {
  return Tensor::full(shape, is_floating(dtype) ? std::nan("") : 1, {dtype});
}

// A view of `shape` with strides of the layout, on memory of its own.
Tensor view_of(const Shape& shape, DType dtype, Layout layout) {
  const size_t n = shape.size();
  Shape outer = shape;
  Dims axes(n, 0);
  for (size_t i = 0; i < n; ++i) {
    axes[i] = static_cast<int64_t>(n - 1 - i);
    if (layout == Layout::reversed_axes) outer[i] = shape[n - 1 - i];
    if (layout == Layout::every_second) outer[i] = 2 * shape[i];
    if (layout == Layout::inside) outer[i] = shape[i] + 3;
  }
  Tensor view = filled(outer, dtype);
  if (layout == Layout::reversed_axes) return permute(view, axes);
  for (size_t i = 0; i < n; ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (layout == Layout::every_second) view = slice(view, axis, 1, 2 * shape[i], 2);
    if (layout == Layout::backwards) view = flip(view, {axis});
    if (layout == Layout::inside) view = slice(view, axis, 2, 2 + shape[i]);
  }
  return view;
}

struct Outcome {
  std::vector<Tensor> outputs;
  std::vector<Tensor> grads;
};

Tensor weighted_sum(const std::vector<Tensor>& outputs) {
  Samples weights(DType::f32, 11);
  Tensor total = Tensor::scalar(0);
  for (const Tensor& out : outputs) {
    if (!is_floating(out.dtype()) || out.size() == 0) continue;
    total =
        total + sum((out * weights.spread(out.shape(), 0.3, 1.7).to(out.dtype())).to(DType::f32));
  }
  return total;
}

Outcome run(const Op& op, const Sample& sample, const std::vector<Tensor>& inputs) {
  manual_seed(3);
  std::vector<const TensorImpl*> impls;
  for (const Tensor& t : inputs) {
    if (t.defined() && is_floating(t.dtype())) t.attach_grad();
    impls.push_back(t.impl());
  }
  Outcome outcome;
  Tensor total;
  {
    Record record;
    outcome.outputs = call_many(op, sample.attrs.data(), impls);
    if (op.vjp) total = weighted_sum(outcome.outputs);
  }
  if (!total.defined() || !total.impl()->is_recorded()) return outcome;
  total.backward();
  for (const Tensor& t : inputs) {
    if (t.defined() && is_floating(t.dtype())) outcome.grads.push_back(t.grad());
  }
  return outcome;
}

void expect_equal(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t t = 0; t < got.size(); ++t) {
    ASSERT_EQ(got[t].shape(), wanted[t].shape()) << what;
    const std::vector<double> a = got[t].to(DType::f64).to_vector<double>();
    const std::vector<double> b = wanted[t].to(DType::f64).to_vector<double>();
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
      ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i])))
          << what << ", tensor " << t << ", element " << i;
    }
  }
}

double tolerance_of(DType dtype) {
  return dtype == DType::f64   ? 1e-12
         : dtype == DType::f32 ? 2e-5
         : dtype == DType::f16 ? 4e-3
                               : 3e-2;
}

std::vector<const Op*> rows_with_samples() {
  std::vector<const Op*> rows;
  for (const Op* op : all_ops()) {
    // Their one caller makes the input fit first.
    const bool guarded = op->name == std::string("reshape") || op->flags.transfer;
    if (!guarded && !samples_of(*op, DType::f64).empty()) rows.push_back(op);
  }
  return rows;
}

class TableStrides : public testing::TestWithParam<const Op*> {};

TEST_P(TableStrides, DoNotMatter) {
  const Op& op = *GetParam();
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const std::vector<Sample> samples = samples_of(op, dtype);
    for (size_t s = 0; s < samples.size(); ++s) {
      std::vector<Tensor> plain;
      for (const Tensor& t : samples[s].inputs) plain.push_back(t.defined() ? t.clone() : t);
      const Outcome wanted = run(op, samples[s], plain);
      for (const Layout layout : kLayouts) {
        std::vector<Tensor> strided;
        for (const Tensor& t : samples[s].inputs) {
          strided.push_back(t.defined() ? view_of(t.shape(), t.dtype(), layout) : t);
          if (t.defined()) strided.back().assign(t);
        }
        Outcome got;
        try {
          got = run(op, samples[s], strided);
        } catch (const Error& error) {
          ASSERT_EQ(error.kind(), ErrorKind::invalid) << error.what();
          ASSERT_NE(std::string(error.what()).find("row-major"), std::string::npos) << error.what();
          continue;
        }
        const std::string what = std::string(name(dtype)) + ", sample " + std::to_string(s) +
                                 ", layout " + std::to_string(static_cast<int>(layout));
        expect_equal(got.outputs, wanted.outputs, tolerance_of(dtype), what);
        expect_equal(got.grads, wanted.grads, tolerance_of(dtype), what + ", gradients");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, TableStrides, testing::ValuesIn(rows_with_samples()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace thalweg
