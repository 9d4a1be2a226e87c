// Walks the op table: every row's gradient, and the gradient of its gradient, against central
// differences in f64 on the row's own samples.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/samples.h>

namespace thalweg {
namespace {

constexpr double kStep = 1e-5;
constexpr int64_t kMostElements = 40;  // of one input
constexpr double kTolerance = 2e-6;
constexpr double kSecondTolerance = 2e-5;

std::vector<const Op*> rows_with_samples() {
  std::vector<const Op*> rows;
  for (const Op* op : all_ops()) {
    if (!samples_of(*op, DType::f64).empty()) rows.push_back(op);
  }
  return rows;
}

std::vector<Tensor> run(const Op& op, const Sample& sample, const std::vector<Tensor>& inputs) {
  std::vector<const TensorImpl*> impls;
  for (const Tensor& t : inputs) impls.push_back(t.impl());
  return call_many(op, sample.attrs.data(), impls);
}

// A number that depends on every output element in its own way.
Tensor weighted_sum(const std::vector<Tensor>& outputs) {
  Samples weights(DType::f64, 11);
  Tensor total = Tensor::scalar(0, {.dtype = DType::f64});
  for (const Tensor& out : outputs) {
    if (!is_floating(out.dtype()) || out.size() == 0) continue;
    total = total + sum(out * weights.spread(out.shape(), 0.3, 1.7));
  }
  return total;
}

double value_at(const Tensor& x, int64_t i) { return x.data<double>()[i]; }

// Compares `analytic` with the central difference of `f` in the elements of `x`, or many of them.
// Elements where f is not a number on one side are outside the op's domain.
void expect_gradient(const Tensor& analytic, const Tensor& x, const std::function<double()>& f,
                     double tolerance, const std::string& what) {
  const Tensor got = analytic.contiguous();
  const int64_t stride = 1 + x.size() / kMostElements;
  for (int64_t i = 0; i < x.size(); i += stride) {
    const double kept = value_at(x, i);
    x.mutable_data<double>()[i] = kept + kStep;
    const double above = f();
    x.mutable_data<double>()[i] = kept - kStep;
    const double below = f();
    x.mutable_data<double>()[i] = kept;
    const double wanted = (above - below) / (2 * kStep);
    if (!std::isfinite(wanted)) continue;
    const double scale = std::max(1.0, std::abs(wanted));
    ASSERT_NEAR(value_at(got, i), wanted, tolerance * scale) << what << ", element " << i;
  }
}

std::string describe(const Op& op, size_t sample, size_t input) {
  return std::string(op.name) + ", sample " + std::to_string(sample) + ", input " +
         std::to_string(input);
}

// Differences of f32 results say nothing about a gradient; nor is there one where nothing comes
// out.
bool can_be_checked(const Op& op, const Sample& sample) {
  bool floating = false;
  for (const Tensor& out : run(op, sample, sample.inputs)) {
    if (is_floating(out.dtype()) && out.dtype() != DType::f64) return false;
    floating = floating || (is_floating(out.dtype()) && out.size() > 0);
  }
  return floating;
}

// Leaves with storage of their own, row-major, so that elements can be nudged.
std::vector<Tensor> leaves_of(const Sample& sample) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : sample.inputs) {
    inputs.push_back(!t.defined() || !is_floating(t.dtype()) ? t : t.clone());
    if (inputs.back().defined() && is_floating(inputs.back().dtype())) inputs.back().attach_grad();
  }
  return inputs;
}

bool is_differentiable_input(const Tensor& t) {
  return t.defined() && is_floating(t.dtype()) && t.size() > 0;
}

std::vector<const Op*> rows_with_gradients() {
  std::vector<const Op*> rows = rows_with_samples();
  std::erase_if(rows, [](const Op* op) { return !op->vjp; });
  return rows;
}

class TableGradients : public testing::TestWithParam<const Op*> {};
class TableSecondGradients : public testing::TestWithParam<const Op*> {};

TEST_P(TableGradients, AgreeWithCentralDifferences) {
  const Op& op = *GetParam();
  const std::vector<Sample> samples = samples_of(op, DType::f64);
  for (size_t s = 0; s < samples.size(); ++s) {
    if (!can_be_checked(op, samples[s])) continue;
    const std::vector<Tensor> inputs = leaves_of(samples[s]);
    Tensor total;
    {
      Record record;
      total = weighted_sum(run(op, samples[s], inputs));
    }
    if (!total.impl()->is_recorded()) continue;
    if (!op.vjp) {
      EXPECT_THROW(total.backward(), Error) << op.name << ": lost its gradient silently";
      continue;
    }
    total.backward();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_differentiable_input(inputs[i])) continue;
      const auto f = [&] { return weighted_sum(run(op, samples[s], inputs)).item<double>(); };
      expect_gradient(inputs[i].grad(), inputs[i], f, kTolerance, describe(op, s, i));
    }
  }
}

TEST_P(TableSecondGradients, AgreeWithCentralDifferences) {
  const Op& op = *GetParam();
  const std::vector<Sample> samples = samples_of(op, DType::f64);
  for (size_t s = 0; s < samples.size(); ++s) {
    if (!can_be_checked(op, samples[s])) continue;
    const std::vector<Tensor> inputs = leaves_of(samples[s]);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_differentiable_input(inputs[i])) continue;
      const auto first = [&](bool create_graph) {
        Tensor total;
        {
          Record record;
          total = weighted_sum(run(op, samples[s], inputs));
        }
        return grad(total, inputs[i], {.create_graph = create_graph});
      };
      Tensor second_total;
      {
        Record record;
        second_total = weighted_sum({first(true)});
      }
      if (!second_total.impl()->is_recorded()) continue;  // linear in this input, and in all others
      for (const Tensor& x : inputs) {
        if (is_differentiable_input(x)) x.zero_grad();
      }
      second_total.backward();
      for (size_t j = 0; j < inputs.size(); ++j) {
        if (!is_differentiable_input(inputs[j])) continue;
        const auto f = [&] { return weighted_sum({first(false)}).item<double>(); };
        expect_gradient(inputs[j].grad(), inputs[j], f, kSecondTolerance,
                        describe(op, s, i) + " by input " + std::to_string(j));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, TableGradients, testing::ValuesIn(rows_with_samples()),
                         [](const auto& info) { return std::string(info.param->name); });

INSTANTIATE_TEST_SUITE_P(Rows, TableSecondGradients, testing::ValuesIn(rows_with_gradients()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace thalweg
