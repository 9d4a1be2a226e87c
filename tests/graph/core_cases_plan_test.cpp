// Faults that others shipped (as in the tests of ops and autograd), once more as replays of plans.

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/attention.h>
#include <thalweg/ops/conv.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/norm.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/pool.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using Tensors = std::vector<Tensor>;
using Body = std::function<Tensors()>;

/// What a planned function gave when it was replayed; `before` runs before each call.
Tensors replayed(
    const Body& body, const std::function<void()>& before = [] {}) {
  auto f = plan([&] { return body(); });
  Tensors results;
  for (int i = 0; i < 5; ++i) {
    before();
    results = f();
  }
  EXPECT_GE(f.counts().replayed, 2) << f.explain();
  return results;
}

/// A planned function of one argument, replayed.
Tensor replayed(const std::function<Tensor(const Tensor&)>& body, const Tensor& x) {
  auto f = plan([&](const Tensor& t) { return body(t); });
  Tensor result;
  for (int i = 0; i < 5; ++i) result = f(x.clone());
  EXPECT_GE(f.counts().replayed, 2) << f.explain();
  return result;
}

/// The value and the gradients of the leaves from a planned forward and backward pass.
Tensors value_and_gradients(const Tensors& leaves, const std::function<Tensor()>& f,
                            const Tensor& head = {}) {
  for (const Tensor& leaf : leaves) leaf.attach_grad();
  return replayed([&] {
    Tensor y;
    {
      const Record record;
      y = f();
    }
    head.defined() ? y.backward(head) : y.backward();
    Tensors results{y};
    for (const Tensor& leaf : leaves) results.push_back(leaf.grad());
    return results;
  });
}

void expect_close(const Tensor& got, const std::vector<double>& wanted, double tolerance = 1e-5) {
  const std::vector<double> values = got.to(DType::f64).to_vector<double>();
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isinf(wanted[i]))
      EXPECT_EQ(values[i], wanted[i]) << i;
    else
      EXPECT_NEAR(values[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i]))) << i;
  }
}

// --- tensors ---
// numpy/numpy#1683, pytorch/pytorch#48401
TEST(PlannedInPlace, ReadsItsOperandAsItWasBefore) {
  const auto expect = [](const Tensor& fresh, const std::function<void(const Tensor&)>& change,
                         const std::vector<double>& wanted) {
    const auto f = [&](const Tensor& t) {
      change(t);
      return t;
    };
    expect_close(replayed(f, fresh), wanted, 0);
  };
  const Tensor v = Tensor::of({0.0f, 1.0f, 2.0f, 3.0f, 4.0f});
  expect(Tensor::of({0.0f, 1.0f, 2.0f, 3.0f}, {2, 2}), [](const Tensor& a) { a += a.transpose(); },
         {0, 3, 3, 6});
  expect(v, [](const Tensor& t) { slice(t, 0, 1, 5) += slice(t, 0, 0, 4); }, {0, 1, 3, 5, 7});
  expect(v, [](const Tensor& t) { slice(t, 0, 1, 5).assign(slice(t, 0, 0, 4)); }, {0, 0, 1, 2, 3});
  auto refused = plan([](const Tensor& one) { broadcast_to(one, {4}) += 1.0; });
  for (int i = 0; i < 4; ++i) EXPECT_THROW(refused(Tensor::of({1.0f})), Error);
}

// --- reductions ---
// jax-ml/jax#6811, tensorflow/tensorflow#11692, pytorch/pytorch#31829
TEST(PlannedLogsumexp, HoldsAtInfinities) {
  const auto expect = [](std::vector<double> x, double value, std::vector<double> gradient) {
    const Tensor leaf = Tensor::of(x).to(DType::f32);
    const Tensors r = value_and_gradients({leaf}, [&] { return logsumexp(leaf); });
    expect_close(r[0], {value}, 1e-6);
    expect_close(r[1], gradient, 1e-4);
  };
  expect({-kInf, -kInf}, -kInf, {0, 0});
  expect({-kInf, 1}, 1, {0, 1});
  expect({1000, 1000}, 1000.693147, {.5, .5});
  expect({-1000, -1001}, -999.686738, {.731059, .268941});
  const auto f = [](const Tensor& x) { return logsumexp(x); };
  expect_close(replayed(f, Tensor::zeros({0})), {-kInf});
  expect_close(replayed(f, Tensor::of({kInf, 0.0})), {kInf});
}

// --- gradients ---
// pytorch/pytorch#8940
TEST(PlannedPow, HasFiniteGradientsAtZero) {
  const Tensor x = Tensor::of({0.0, 1.0});
  const Tensors s = value_and_gradients({x}, [&] { return sum(pow(x, 0.0)); });
  expect_close(s[0], {2}, 0);
  expect_close(s[1], {0, 0}, 0);
  struct Case {
    double base, exponent, dx, dp;
  };
  constexpr double kAny = 1e300;  // not looked at
  for (const Case& c : {Case{0, 1, 1, 0}, Case{0, 2, 0, 0}, Case{0, .5, kInf, kAny},
                        Case{-2, 3, 12, kAny}, Case{2, 0, 0, std::log(2)}, Case{0, 0, 0, 0}}) {
    const Tensor b = Tensor::of({c.base}), p = Tensor::of({c.exponent});
    const Tensors tensors = value_and_gradients({b, p}, [&] { return pow(b, p); });
    expect_close(tensors[1], {c.dx}, 1e-12);
    if (c.dp != kAny) expect_close(tensors[2], {c.dp}, 1e-12);
    const Tensor alone = Tensor::of({c.base});
    expect_close(value_and_gradients({alone}, [&] { return pow(alone, c.exponent); })[1], {c.dx},
                 1e-12);
  }
}

// pytorch/pytorch#1631, #1528, tenstorrent/tt-metal#53386
TEST(PlannedIndices, AddUpTheGradientsOfOnesThatRepeat) {
  const Tensor x = Tensor::of({0.1}), twice = Tensor::of({0, 0});
  expect_close(value_and_gradients(
                   {x}, [&] { return gather(x, twice, 0); }, Tensor::of({0.2, 0.3}))[1],
               {0.5}, 0);
  const Tensor table = Tensor::zeros({3, 2}), rows = Tensor::of({2, 0, 2, 2});
  const Tensor dy = Tensor::of({1.f, 10.f, 2.f, 20.f, 3.f, 30.f, 4.f, 40.f}, {4, 2});
  expect_close(value_and_gradients(
                   {table}, [&] { return embedding(rows, table); }, dy)[1],
               {2, 20, 0, 0, 8, 80}, 0);
  const Tensor half = Tensor::zeros({3, 1}, {DType::bf16});
  const Tensor ones = Tensor::ones({1000}, {DType::i64});
  expect_close(
      value_and_gradients(
          {half}, [&] { return embedding(ones, half); }, Tensor::ones({1000, 1}, {DType::bf16}))[1],
      {0, 1000, 0}, 0);
}

// pytorch/pytorch#6990
TEST(PlannedBackward, RefusesAValueThatWasChangedInPlace) {
  const Tensor x = Tensor::of({0.0f, 2.0f}).attach_grad();
  auto f = plan([&] {
    Tensor y, loss;
    {
      const Record record;
      y = sigmoid(x);
      loss = sum(y);
    }
    y.detach().fill(0);
    loss.backward();
  });
  for (int i = 0; i < 4; ++i) EXPECT_THROW(f(), Error);
  const Tensor w = Tensor::of({2.0f}).attach_grad();
  const auto read_after_it_was_zeroed = [&](bool itself) {
    return [&, itself] {
      Tensor y;
      {
        const Record record;
        const Tensor h = itself ? w : 3 * w;
        y = h * h;
      }
      w.detach().fill(0);
      y.backward();
      return Tensors{w.grad()};
    };
  };
  auto square = plan(read_after_it_was_zeroed(true));
  for (int i = 0; i < 4; ++i) {
    w.fill(2);
    EXPECT_THROW(square(), Error);
  }
  expect_close(replayed(read_after_it_was_zeroed(false), [&] { w.fill(2); })[0], {36}, 0);
}

// --- convolutions and pooling ---
// apache/mxnet#11203, microsoft/onnxruntime#2518
TEST(PlannedConvTranspose, KeepsStrideAndDilationApart) {
  const Tensor x = Tensor::of({1., 2., 3., 4., 5., 6., 7., 8., 9.}, {1, 1, 3, 3});
  const Tensor k = Tensor::of({9., 8., 7., 6., 5., 4., 3., 2., 0.}, {1, 1, 3, 3});
  const Tensor c = reshape(arange(25, {DType::f64}), {1, 1, 5, 5});
  const Tensors r = value_and_gradients(
      {x, k}, [&] { return conv_transpose(x, k, {}, {.stride = 2, .padding = 2, .dilation = 2}); },
      c);
  const std::vector<double> y{94, 0,   154, 0, 106, 0, 0, 0,   0, 0,   186, 0, 284,
                              0,  184, 0,   0, 0,   0, 0, 106, 0, 150, 0,   89};
  expect_close(r[0], y, 0);
  expect_close(r[1], {28, 80, 96, 152, 324, 306, 352, 610, 472}, 0);
  expect_close(r[2], {200, 326, 224, 486, 732, 474, 288, 410, 248}, 0);
  const ConvTransposeOptions longer{.stride = 2, .padding = 2, .output_padding = 1, .dilation = 2};
  const Tensor padded =
      replayed([&](const Tensor& t) { return conv_transpose(t, k, {}, longer); }, x);
  ASSERT_EQ(padded.shape(), (Shape{1, 1, 6, 6}));
  expect_close(slice(slice(padded, 2, 0, 5), 3, 0, 5), y, 0);
  EXPECT_EQ(sum(padded).item<double>(), 94 + 154 + 106 + 186 + 284 + 184 + 106 + 150 + 89);
  const Tensor line = Tensor::of({1., 10., 100.}, {1, 1, 3});
  const ConvTransposeOptions one_axis{
      .stride = 2, .padding = 1, .output_padding = 1, .dilation = 3};
  expect_close(replayed([&](const Tensor& t) { return conv_transpose(t, line, {}, one_axis); },
                        Tensor::of({1., 2., 3.}, {1, 1, 3})),
               {0, 2, 10, 3, 20, 100, 30, 200, 0, 300}, 0);
}

// tensorflow/tensorflow#9949, FluxML/NNlib.jl#763
TEST(PlannedConv, GivesZeroGradientsForAnEmptyBatch) {
  const Tensor w = Tensor::ones({4, 2, 3}), b = Tensor::full({4}, 4);
  const auto gradients = [&](const Tensor& x) {
    return value_and_gradients({x, w, b}, [&] { return sum(conv(x, w, b, {.padding = 1})); });
  };
  const Tensors full = gradients(Tensor::ones({3, 2, 4}));
  EXPECT_EQ(sum(full[2]).item<float>(), 240);
  EXPECT_EQ(sum(full[3]).item<float>(), 48);
  for (int i = 0; i < 4; ++i) Tensor::full({4, 2, 3}, 1e30);  // dirties the memory that is reused
  const Tensors none = gradients(Tensor::ones({0, 2, 5}));
  EXPECT_EQ(none[1].shape(), (Shape{0, 2, 5}));
  expect_close(none[2], std::vector<double>(24), 0);
  expect_close(none[3], std::vector<double>(4), 0);
  const Tensor y = replayed([&](const Tensor& x) { return conv(x, w, b, {.padding = 1}); },
                            Tensor::ones({0, 2, 5}));
  EXPECT_EQ(y.shape(), (Shape{0, 4, 5}));
}

// tensorflow/tensorflow#10216, apache/mxnet#6191, tinygrad/tinygrad#7726
TEST(PlannedMaxPool, LooksAtNoPaddingAndLetsNanWin) {
  const auto pooled = [](const Tensor& x, const MaxPoolOptions& options) {
    return replayed([&](const Tensor& t) { return max_pool(t, options); }, x);
  };
  expect_close(pooled(Tensor::of({1.f, -1.f, 0.f, -1.f, 2.f, 1.f, 0.f, 2.f, -2.f}, {1, 1, 3, 3}),
                      {.kernel = 2, .ceil_mode = true}),
               {2, 1, 2, -2}, 0);
  const MaxPoolOptions wide{.kernel = 3, .stride = 1, .padding = 1};
  expect_close(pooled(Tensor::of({-1.f, -2.f, -3.f}, {1, 1, 3}), wide), {-1, -1, -2}, 0);
  const Tensor numbers = Tensor::of({int32_t{-1}, int32_t{-2}, int32_t{-3}}, {1, 1, 3});
  const Tensors both = replayed(Body([&] {
    const MaxPoolResult r = max_pool_with_indices(numbers, wide);
    return Tensors{r.values, r.indices};
  }));
  EXPECT_EQ(both[0].to_vector<int32_t>(), (std::vector<int32_t>{-1, -1, -2}));
  EXPECT_EQ(both[1].to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 1}));
  const Tensor y = pooled(Tensor::of({1.f, NAN, 2.f, 0.f}, {1, 1, 4}), {});
  EXPECT_TRUE(std::isnan(y.to_vector<float>()[0]));
  EXPECT_EQ(y.to_vector<float>()[1], 2);
  auto refused = plan([](const Tensor& x) { return max_pool(x, {.padding = 2}); });
  for (int i = 0; i < 4; ++i) EXPECT_THROW(refused(Tensor::of({1.f, 2.f}, {1, 1, 2})), Error);
  const auto gradient = [](const Tensor& x, const MaxPoolOptions& options) {
    return value_and_gradients({x}, [&] { return sum(max_pool(x, options)); })[1];
  };
  expect_close(gradient(Tensor::of({1.f, 3.f, 2.f}, {1, 1, 3}), {.kernel = 2, .stride = 1}),
               {0, 2, 0}, 0);
  expect_close(gradient(Tensor::of({5.f, 5.f, 5.f}, {1, 1, 3}), {.kernel = 3}), {1, 0, 0}, 0);
}

// --- norms, losses, attention ---
// ml-explore/mlx#3817, pytorch/pytorch#3122, #12013
TEST(PlannedBatchNorm, KeepsRunningStatistics) {
  const Tensor mean = Tensor::zeros({1}), var = Tensor::ones({1});
  const auto train = [&](const Tensor& x, double mean_before, double var_before) {
    const Body body = [&] {
      const ModeScope training(Mode::training);
      return Tensors{batch_norm(x, {}, {}, mean, var)};
    };
    return replayed(body, [&] {
      mean.fill(mean_before);
      var.fill(var_before);
    })[0];
  };
  expect_close(train(Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {4, 1}), 0, 1),
               {-1.341635, -.447212, .447212, 1.341635});
  expect_close(mean, {.25});
  expect_close(var, {1.0666667});
  EXPECT_EQ(train(Tensor::zeros({0, 1}), .25, 1.0666667).shape(), (Shape{0, 1}));
  expect_close(mean, {.25});
  expect_close(var, {1.0666667});
  expect_close(train(Tensor::of({7.0f}, {1, 1, 1, 1}), .25, 1.0666667), {0});
  expect_close(var, {.96});
}

// huggingface/candle#2561, pytorch/pytorch#2221, #1792
TEST(PlannedSigmoidCrossEntropy, HoldsWhereTheSigmoidIsSaturated) {
  const auto expect = [](std::vector<float> z, std::vector<float> y, const Tensor& weight,
                         std::vector<double> value, std::vector<double> gradient) {
    const Tensor pred = Tensor::of(z), label = Tensor::of(y);
    const Tensors r =
        value_and_gradients({pred}, [&] { return sigmoid_cross_entropy(pred, label, weight); });
    expect_close(r[0], value, 1e-6);
    expect_close(r[1], gradient, 1e-6);
  };
  expect({0, 100, -100, 100, -100, 1000, -1000}, {0, 1, 0, 0, 1, 0, 1}, {},
         {.693147, 0, 0, 100, 100, 1000, 1000}, {.5, 0, 0, 1, -1, 1, -1});
  expect({0, 100, -100}, {1, .25f, .25f}, Tensor::scalar(3), {2.079442, 75, 75}, {-1.5, .75, -.75});
}

// pytorch/pytorch#41508 and #103963
TEST(PlannedAttention, OfAQueryThatSeesNoKeyIsZeroAndSpoilsNoGradient) {
  const Tensor bools = Tensor::of({true, true, false, false}, {2, 2});
  const Tensor added = Tensor::of({0.0, 0.0, -kInf, -kInf}, {2, 2}).to(DType::f32);
  for (const Tensor& mask : {bools, added}) {
    for (const bool first_only : {false, true}) {
      const auto one_head = [](float a, float b) { return Tensor::of({a, b}, {1, 1, 2, 1}); };
      const Tensor q = one_head(1, 2), k = one_head(1, -1), v = one_head(10, 20);
      const Tensors r = value_and_gradients({q, k, v}, [&] {
        const Tensor y = attention(q, k, v, {.scale = 1, .mask = mask});
        return first_only ? sum(slice(y, 2, 0, 1)) : sum(y);
      });
      expect_close(r[0], {11.192029});
      expect_close(r[1], {-2.099872, 0});
      expect_close(r[2], {-1.049936, 1.049936});
      expect_close(r[3], {.880797, .119203});
    }
  }
}

// --- printing ---
// pytorch/pytorch#9395 and #7175: what a plan gives is printed like any tensor.
TEST(PlannedPrint, ShowsEveryValue) {
  const auto printed = [](const Tensor& x) {
    return to_string(replayed([](const Tensor& t) { return t.clone(); }, x));
  };
  for (const float value : {2e-5f, .05524f})
    EXPECT_NEAR(std::stod(printed(Tensor::of({value})).substr(1)) / value, 1, 1e-3);
  EXPECT_EQ(printed(Tensor::scalar(int64_t{2341234123412341}, {DType::i64})), "2341234123412341");
  EXPECT_EQ(printed(Tensor::of<int32_t>({16777217, 16777216})), "[16777217, 16777216] dtype=i32");
  const std::string mixed = printed(Tensor::of({1e28f, 1e-28f}));
  EXPECT_NEAR(std::stod(mixed.substr(1)) / 1e28, 1, 1e-3) << mixed;
  EXPECT_NEAR(std::stod(mixed.substr(mixed.find(',') + 1)) / 1e-28, 1, 1e-3) << mixed;
  EXPECT_EQ(printed(Tensor::of({-0.0f, NAN, static_cast<float>(kInf)})), "[ -0, nan, inf]");
  EXPECT_EQ(printed(Tensor::zeros({0, 3})), "[] shape=[0, 3]");
  EXPECT_EQ(printed(Tensor::of({true, false})), "[ true, false]");
  EXPECT_EQ(printed(Tensor::scalar(1.5)), "1.5");
  const std::string half = printed(Tensor::full({1}, 0.1, {.dtype = DType::bf16}));
  EXPECT_NEAR(std::stod(half.substr(1)) / 0.1, 1, 4e-3) << half;
}

// --- plans ---
// tinygrad/tinygrad#9597
TEST(PlannedLeaves, WithEqualContentsStayApart) {
  const Tensor zero = Tensor::zeros({2}), other_zero = Tensor::zeros({2});
  const Tensor one = Tensor::ones({2}), other_one = Tensor::ones({2});
  const Tensor x = Tensor::of({1.0f, 10.0f});
  const Tensors r = value_and_gradients({zero, other_zero, one, other_one}, [&] {
    return sum(2 * (x * one + zero)) + sum(5 * (x * other_one + other_zero));
  });
  expect_close(r[0], {77}, 0);
  expect_close(r[1], {2, 2}, 0);
  expect_close(r[2], {5, 5}, 0);
  expect_close(r[3], {2, 20}, 0);
  expect_close(r[4], {5, 50}, 0);
}

// pytorch/pytorch#195422: dropout gives its input back in prediction, in a plan as in an eager
// call.
TEST(PlannedDropout, InPredictionIsItsInputAlsoForChangesInPlace) {
  const auto double_in_place = [](const Tensor& x) {
    const Tensor y = dropout(x, 0.5);
    y += y;
    return y;
  };
  const Tensor eager = Tensor::ones({2});
  expect_close(double_in_place(eager), {2, 2}, 0);
  expect_close(eager, {2, 2}, 0);
  auto f = plan(double_in_place);
  for (int i = 0; i < 5; ++i) {
    const Tensor x = Tensor::ones({2});
    expect_close(f(x), {2, 2}, 0);
    expect_close(x, {2, 2}, 0);
  }
  EXPECT_GE(f.counts().replayed, 2);
}

}  // namespace
}  // namespace thalweg
