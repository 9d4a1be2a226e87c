// Random programs of a few to 30 ops, planned and eager: the same bits, in results and gradients.

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/philox.h>
#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/ops/views.h>

namespace thalweg {
namespace {

constexpr int64_t kSize = 6;  // of both axes of every value

/// One op of a program: which, and on which earlier values.
struct Line {
  uint32_t op, a, b;
};

struct Draw {
  explicit Draw(uint64_t seed) : random(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random.bounded(n)); }
  Philox random;
};

std::vector<Line> draw_program(Draw& draw, uint32_t inputs) {
  std::vector<Line> lines(2 + draw.below(29));
  for (uint32_t i = 0; i < lines.size(); ++i)
    lines[i] = {draw.below(20), draw.below(inputs + i), draw.below(inputs + i)};
  return lines;
}

Tensor apply_line(const Line& line, const Tensor& a, const Tensor& b) {
  switch (line.op) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return tanh(a);
    case 4:
      return sigmoid(a);
    case 5:
      return relu(a) + 0.25;
    case 6:
      return matmul(tanh(a), tanh(b)) * 0.3;
    case 7:
      return transpose(a);
    case 8:
      return a + sum(tanh(b), {0});
    case 9:
      return broadcast_to(mean(a, {1}, true), {kSize, kSize});
    case 10:
      return softmax(a, 1);
    case 11:
      return slice(concat({tanh(a), b}, 0), 0, 3, 3 + kSize);
    case 12:
      return linear(tanh(a), tanh(b), b[0]);
    case 13:
      return square(tanh(a)) - 1.5;
    case 14:
      return dropout(a, 0.25);
    case 15:
      return reshape(transpose(a), {kSize, kSize}) * 0.5;
    case 16:
      return maximum(a, b);
    case 17:
      return slice(a, 1, Slice::kOpen, Slice::kOpen, -1);
    case 18:
      return exp(tanh(a)) / (1.5 + sigmoid(b));
    default:
      return tanh(a);  // a common sub-expression now and then
  }
}

// Values may grow, so that sums of them are not finite: that, too, must come out the same.
Tensor run_program(const std::vector<Line>& lines, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> values = inputs;
  for (const Line& line : lines) {
    values.push_back(apply_line(line, values[line.a], values[line.b]));
    // Changes in place of what no gradient needs.
    if (line.op == 19 && !is_recording()) values.back() += 0.125;
  }
  return mean(tanh(values.back())) + mean(tanh(values[values.size() / 2]));
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.impl()->data, y.impl()->data, static_cast<size_t>(x.size()) * 4) == 0;
}

std::vector<Tensor> draw_inputs(Draw& draw, uint32_t count) {
  std::vector<Tensor> inputs;
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<float> v(kSize * kSize);
    for (float& x : v) x = static_cast<float>(draw.below(2001)) / 1000 - 1;
    inputs.push_back(Tensor::of(v, {kSize, kSize}));
  }
  return inputs;
}

class RandomPlans : public testing::TestWithParam<int> {};

TEST_P(RandomPlans, ForwardEqualsEager) {
  Draw draw(1000 + GetParam());
  const std::vector<Line> lines = draw_program(draw, 3);
  auto planned = plan([&](const std::vector<Tensor>& x) { return run_program(lines, x); });
  for (int i = 0; i < 5; ++i) {
    const std::vector<Tensor> inputs = draw_inputs(draw, 3);
    manual_seed(i);
    const ModeScope mode(Mode::training);
    const Tensor wanted = run_program(lines, inputs);
    manual_seed(i);
    EXPECT_TRUE(same_bits(planned(inputs), wanted)) << planned.explain();
  }
  EXPECT_EQ(planned.counts().replayed, 3);
}

TEST_P(RandomPlans, GradientsEqualEager) {
  Draw draw(2000 + GetParam());
  const std::vector<Line> lines = draw_program(draw, 4);
  const std::vector<Tensor> weights = draw_inputs(draw, 2);
  for (const Tensor& w : weights) w.attach_grad();
  const auto step = [&](const std::vector<Tensor>& x) {
    std::vector<Tensor> inputs = x;
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    Tensor loss;
    {
      const Record record;
      loss = run_program(lines, inputs) + mean(weights[0] * weights[1]);
    }
    loss.backward();
    const Pause pause;
    for (const Tensor& w : weights) w -= w.grad() * 0.125;
    return loss;
  };
  auto planned = plan(step);
  const Tensor start0 = weights[0].clone(), start1 = weights[1].clone();
  std::vector<std::vector<Tensor>> batches;
  for (int i = 0; i < 6; ++i) batches.push_back(draw_inputs(draw, 2));
  std::vector<Tensor> wanted;
  manual_seed(GetParam());
  for (const auto& batch : batches) wanted.push_back(step(batch));
  const Tensor end0 = weights[0].clone(), end1 = weights[1].clone();
  weights[0].assign(start0);
  weights[1].assign(start1);
  manual_seed(GetParam());
  for (size_t i = 0; i < batches.size(); ++i)
    EXPECT_TRUE(same_bits(planned(batches[i]), wanted[i])) << "call " << i << planned.explain();
  EXPECT_TRUE(same_bits(weights[0], end0) && same_bits(weights[1], end1)) << planned.explain();
  EXPECT_GE(planned.counts().replayed, 3) << planned.explain();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, testing::Range(0, 150));

}  // namespace
}  // namespace thalweg
