// Walks the op table: every row's samples as a planned function give the bits of the eager call,
// forward and gradients.

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/samples.h>

namespace thalweg {
namespace {

constexpr int kCalls = 5;  // two are traced, the others replay

std::vector<Tensor> run(const Op& op, const Sample& sample, const std::vector<Tensor>& inputs) {
  std::vector<const TensorImpl*> impls;
  for (const Tensor& t : inputs) impls.push_back(t.impl());
  return call_many(op, sample.attrs.data(), impls);
}

void expect_same_bits(const Tensor& got, const Tensor& wanted, const std::string& what) {
  ASSERT_EQ(got.defined(), wanted.defined()) << what;
  if (!got.defined()) return;
  ASSERT_EQ(got.shape(), wanted.shape()) << what;
  ASSERT_EQ(got.dtype(), wanted.dtype()) << what;
  const Tensor a = got.contiguous(), b = wanted.contiguous();
  const size_t bytes = static_cast<size_t>(a.size()) * item_size(a.dtype());
  EXPECT_TRUE(bytes == 0 || std::memcmp(a.impl()->data, b.impl()->data, bytes) == 0) << what;
}

std::string describe(const Op& op, size_t sample, int call) {
  return std::string(op.name) + ", sample " + std::to_string(sample) + ", call " +
         std::to_string(call);
}

// Some elements of the inputs change from call to call; indices stay valid.
void change(const std::vector<Tensor>& inputs) {
  for (const Tensor& t : inputs) {
    if (t.defined() && is_floating(t.dtype())) t *= 1.0625;
  }
}

Tensor total_of(const std::vector<Tensor>& outputs) {
  Tensor total = Tensor::scalar(0);
  for (const Tensor& out : outputs) {
    if (!is_floating(out.dtype()) || out.size() == 0) continue;
    total = total + sum(square(out.to(DType::f32)));
  }
  return total;
}

std::vector<const Op*> rows_with_samples() {
  std::vector<const Op*> rows;
  for (const Op* op : all_ops()) {
    if (!samples_of(*op, DType::f32).empty()) rows.push_back(op);
  }
  return rows;
}

class TablePlans : public testing::TestWithParam<const Op*> {};
class TablePlanGradients : public testing::TestWithParam<const Op*> {};

TEST_P(TablePlans, EqualEager) {
  const Op& op = *GetParam();
  for (DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const std::vector<Sample> samples = samples_of(op, dtype);
    for (size_t s = 0; s < samples.size(); ++s) {
      const std::vector<Tensor>& inputs = samples[s].inputs;
      auto planned = plan([&](const std::vector<Tensor>& x) { return run(op, samples[s], x); });
      for (int i = 0; i < kCalls; ++i) {
        const std::vector<Tensor> wanted = run(op, samples[s], inputs);
        const std::vector<Tensor> got = planned(inputs);
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t o = 0; o < got.size(); ++o)
          expect_same_bits(got[o], wanted[o], describe(op, s, i));
        change(inputs);
      }
      EXPECT_EQ(planned.counts().replayed, kCalls - 2) << planned.explain();
    }
  }
}

TEST_P(TablePlanGradients, EqualEager) {
  const Op& op = *GetParam();
  const std::vector<Sample> samples = samples_of(op, DType::f32);
  for (size_t s = 0; s < samples.size(); ++s) {
    std::vector<Tensor> inputs;
    bool floating = false;
    for (const Tensor& t : samples[s].inputs) {
      const bool is_leaf = t.defined() && is_floating(t.dtype());
      inputs.push_back(is_leaf ? t.clone() : t);
      if (is_leaf) inputs.back().attach_grad();
      floating = floating || is_leaf;
    }
    const auto step = [&] {
      Tensor total;
      {
        const Record record;
        total = total_of(run(op, samples[s], inputs));
      }
      if (total.impl()->is_recorded()) total.backward();
      return total;
    };
    if (!floating) continue;
    auto planned = plan(step);
    for (int i = 0; i < kCalls + 1; ++i) {
      const Tensor wanted = step();
      std::vector<Tensor> wanted_grads;
      for (const Tensor& x : inputs) {
        wanted_grads.push_back(x.grad_req() == GradReq::null ? Tensor() : x.grad().clone());
        if (x.grad_req() != GradReq::null) x.zero_grad();
      }
      expect_same_bits(planned(), wanted, describe(op, s, i));
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (wanted_grads[k].defined())
          expect_same_bits(inputs[k].grad(), wanted_grads[k],
                           describe(op, s, i) + ", gradient " + std::to_string(k));
      }
      const Pause pause;
      change(inputs);
    }
    // Gradients of leaves that have some rows only depend on elements.
    const bool is_row_sparse = planned.explain().find("row-sparse") != std::string::npos;
    EXPECT_TRUE(is_row_sparse || planned.counts().replayed >= kCalls - 2) << planned.explain();
  }
}

std::vector<const Op*> rows_with_gradients() {
  std::vector<const Op*> rows = rows_with_samples();
  std::erase_if(rows, [](const Op* op) { return !op->vjp; });
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Rows, TablePlans, testing::ValuesIn(rows_with_samples()),
                         [](const auto& info) { return std::string(info.param->name); });
INSTANTIATE_TEST_SUITE_P(Rows, TablePlanGradients, testing::ValuesIn(rows_with_gradients()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace thalweg
