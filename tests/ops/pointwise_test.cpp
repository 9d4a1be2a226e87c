#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>

#include "ops/fixture.h"

namespace thalweg {
namespace {

std::string op_of(const std::string& case_name) { return case_name.substr(0, case_name.find(' ')); }

Tensor run(const Op& op, const std::vector<Tensor>& inputs) {
  const NoAttrs none;
  std::vector<const TensorImpl*> impls;
  for (const Tensor& x : inputs) impls.push_back(x.impl());
  return call_one(op, &none, impls);
}

void expect_case(const std::string& name, const Json& c, DType dtype) {
  SCOPED_TRACE(name + " in " + thalweg::name(dtype));
  const Op& op = find_op(op_of(name));
  std::vector<Tensor> inputs;
  for (const Json& x : c["inputs"]) inputs.push_back(array(x, dtype).attach_grad());
  Tensor y, total;
  {
    Record record;
    y = run(op, inputs);
    if (!c["grads"].is_null()) total = sum(y);
  }
  expect_near(y.to(DType::f64), c["y"], tolerance_of(dtype));
  if (!total.defined()) return;
  total.backward();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Json& wanted = c["grads"][i];
    if (wanted.is_null()) continue;
    expect_near(inputs[i].grad(), wanted, tolerance_of(dtype));
  }
}

TEST(Pointwise, AgreesWithPyTorchInValueAndGradient) {
  for (const auto& [name, c] : fixtures("pointwise").items()) {
    for (DType dtype : {DType::f64, DType::f32}) expect_case(name, c, dtype);
  }
}

TEST(Pointwise, HasNumbersFromPyTorchForEveryRow) {
  std::set<std::string> seen;
  for (const auto& [name, c] : fixtures("pointwise").items()) seen.insert(op_of(name));
  for (const char* elsewhere : {"where", "clip", "cast", "sigmoid_cross_entropy"})
    seen.insert(elsewhere);
  for (const Op* op : all_ops()) {
    const bool needs_numbers = op->flags.pointwise && !op->flags.internal;
    EXPECT_TRUE(!needs_numbers || seen.contains(op->name)) << op->name;
  }
}

TEST(Pointwise, WorksOnIntegersAsNumPyDoes) {
  const Tensor a = Tensor::of<int32_t>({7, -7, 7, -7}), b = Tensor::of<int32_t>({2, 2, -2, -2});
  EXPECT_EQ(floor_divide(a, b).to_vector<int32_t>(), (std::vector<int32_t>{3, -4, -4, 3}));
  EXPECT_EQ(remainder(a, b).to_vector<int32_t>(), (std::vector<int32_t>{1, 1, -1, -1}));
  EXPECT_EQ((a * b).to_vector<int32_t>(), (std::vector<int32_t>{14, -14, -14, 14}));
  EXPECT_EQ(pow(a, 2.0).to_vector<int32_t>(), (std::vector<int32_t>{49, 49, 49, 49}));
  EXPECT_EQ((a / b).to_vector<float>(), (std::vector<float>{3.5f, -3.5f, -3.5f, 3.5f}));
  const Tensor u = Tensor::of<uint8_t>({250, 3});
  EXPECT_EQ((u + Tensor::of<uint8_t>({10, 10})).to_vector<uint8_t>(),
            (std::vector<uint8_t>{4, 13}));
}

TEST(Pointwise, PromotesAndKeepsTheTensorsDtypeBesideANumber) {
  EXPECT_EQ((Tensor::ones({2}) + Tensor::ones({2}, {.dtype = DType::f64})).dtype(), DType::f64);
  EXPECT_EQ((Tensor::ones({2}, {.dtype = DType::f16}) * 2.0).dtype(), DType::f16);
  EXPECT_EQ((Tensor::ones({2}, {.dtype = DType::i32}) + 2.0).dtype(), DType::i32);
  EXPECT_EQ((Tensor::ones({2}, {.dtype = DType::i32}) * 0.5).dtype(), DType::f32);
  EXPECT_EQ((Tensor::ones({2}) > 0.0).dtype(), DType::boolean);
}

TEST(Where, PicksAndPassesTheGradientToWhatWasPicked) {
  const Tensor a = Tensor::of({1.0f, 2.0f, 3.0f}).attach_grad();
  const Tensor b = Tensor::scalar(9).attach_grad();
  Tensor y;
  {
    Record record;
    y = where(Tensor::of({true, false, true}), a, b);
  }
  y.backward();
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 9, 3}));
  EXPECT_EQ(a.grad().to_vector<float>(), (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(b.grad().item<float>(), 1);
}

TEST(Clip, PassesTheGradientInsideItsBoundsEndsIncluded) {
  const Tensor x = Tensor::of({-2.0f, -1.0f, 0.5f, 1.0f, 4.0f}).attach_grad();
  Tensor y;
  {
    Record record;
    y = clip(x, -1, 1);
  }
  y.backward();
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{-1, -1, 0.5f, 1, 1}));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 1, 1, 1, 0}));
}

TEST(Cast, TruncatesAndTestsForZero) {
  const Tensor x = Tensor::of({-1.7f, 0.0f, 0.3f, 2.9f});
  EXPECT_EQ(cast(x, DType::i64).to_vector<int64_t>(), (std::vector<int64_t>{-1, 0, 0, 2}));
  EXPECT_EQ(cast(x, DType::boolean).to_vector<bool>(),
            (std::vector<bool>{true, false, true, true}));
}

}  // namespace
}  // namespace thalweg
