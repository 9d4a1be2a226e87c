#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/attention.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Case {
  const Json& c;
  Tensor q, k, v;
  AttentionOptions options;

  Case(const Json& json, DType dtype)
      : c(json), q(array(c["q"], dtype)), k(array(c["k"], dtype)), v(array(c["v"], dtype)) {
    options = {.causal = c["causal"], .scale = c["scale"]};
    options.mask = array(c["mask"], c["bool"].get<bool>() ? DType::boolean : dtype);
    for (const Tensor* x : {&q, &k, &v}) x->attach_grad();
  }
};

bool is_attention(const Json& c) { return c.contains("q"); }

TEST(Attention, AgreesWithPyTorchInValueAndGradient) {
  for (const auto& [name, c] : fixtures("attention").items()) {
    if (!is_attention(c)) continue;
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      SCOPED_TRACE(name + " " + thalweg::name(dtype));
      const Case k(c, dtype);
      Tensor y;
      {
        Record record;
        y = attention(k.q, k.k, k.v, k.options);
      }
      y.backward(array(c["dy"], dtype));
      const double tolerance = tolerance_of(dtype) * (is_half(dtype) ? 4 : 2);
      expect_near(y, c["y"], tolerance);
      expect_near(k.q.grad(), c["dq"], tolerance);
      expect_near(k.k.grad(), c["dk"], tolerance);
      expect_near(k.v.grad(), c["dv"], tolerance);
    }
  }
}

TEST(Attention, GivesAnAddedMaskItsGradientAsPyTorch) {
  const Json& c = fixtures("attention").at("added mask");
  const Case k(c, DType::f64);
  k.options.mask.attach_grad();
  Tensor y;
  {
    Record record;
    y = attention(k.q, k.k, k.v, k.options);
  }
  y.backward(array(c["dy"]));
  expect_near(k.options.mask.grad(), c["dmask"], 1e-10);
  expect_near(k.q.grad(), c["dq"], 1e-10);
}

// Issues 41508 and 103963 of PyTorch: a query that sees no key spoils nothing.
TEST(Attention, OfAQueryThatSeesNoKeyIsZeroAndSpoilsNoGradient) {
  const Tensor bools = Tensor::of(std::vector<float>{1, 1, 0, 0}, {2, 2}).to(DType::boolean);
  const Tensor added = Tensor::of(std::vector<float>{0, 0, -kInf, -kInf}, {2, 2});
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Tensor& mask : {bools, added.to(dtype)}) {
      for (const bool first_only : {false, true}) {
        const auto one_head = [&](std::vector<float> values) {
          return Tensor::of(values, {1, 1, 2, 1}).to(dtype).attach_grad();
        };
        const Tensor q = one_head({1, 2}), k = one_head({1, -1}), v = one_head({10, 20});
        Tensor y, loss;
        {
          Record record;
          y = attention(q, k, v, {.scale = 1, .mask = mask});
          loss = first_only ? sum(slice(y, 2, 0, 1)) : sum(y);
        }
        loss.backward();
        const double tolerance = dtype == DType::f32 ? 2e-6 : 1e-6;
        const auto expect = [&](const Tensor& got, std::vector<double> wanted) {
          expect_near(got, Tensor::of(wanted, {1, 1, 2, 1}), tolerance);
        };
        expect(y, {11.192029, 0});
        expect(q.grad(), {-2.099872, 0});
        expect(k.grad(), {-1.049936, 1.049936});
        expect(v.grad(), {.880797, .119203});
      }
    }
  }
}

TEST(Attention, WithoutKeysOrQueriesIsZeroOrEmpty) {
  const Tensor q = Tensor::ones({2, 3, 4, 5}), none = Tensor::ones({2, 3, 0, 5});
  expect_near(attention(q, none, none), Tensor::zeros({2, 3, 4, 5}), 0);
  EXPECT_EQ(attention(none, q, q).shape(), (Shape{2, 3, 0, 5}));
}

// With more queries than keys the first ones see nothing.
TEST(Attention, CausalAlignsTheLastQueryWithTheLastKey) {
  const Tensor q = Tensor::ones({1, 1, 3, 1});
  const Tensor k = Tensor::ones({1, 1, 2, 1}),
               v = Tensor::of(std::vector<float>{4, 6}, {1, 1, 2, 1});
  const Tensor wanted = Tensor::of(std::vector<float>{0, 4, 5}, {1, 1, 3, 1});
  expect_near(attention(q, k, v, {.causal = true}), wanted, 1e-6);
}

TEST(Attention, OfManyKeysWithLargeScoresDoesNotOverflow) {
  const Tensor q = Tensor::full({1, 1, 40, 4}, 30), k = Tensor::full({1, 1, 300, 4}, 30);
  const Tensor y = attention(q, k, Tensor::full({1, 1, 300, 4}, 2), {.causal = true});
  expect_near(y, Tensor::full({1, 1, 40, 4}, 2), 1e-5);
}

TEST(Attention, KeepsTheOrderOfAxesOfItsQueries) {
  const Tensor q = permute(Tensor::ones({2, 5, 3, 4}), {0, 2, 1, 3});
  const Tensor y = attention(q, q, q);
  EXPECT_TRUE(permute(y, {0, 2, 1, 3}).is_contiguous());
}

TEST(Attention, NamesWhatDoesNotFit) {
  const auto text = [](const Shape& q, const Shape& k, const Shape& v, const Tensor& mask = {}) {
    return error_text(ErrorKind::invalid, [&] {
      attention(Tensor::ones(q), Tensor::ones(k), Tensor::ones(v), {.mask = mask});
    });
  };
  const std::string expected =
      "; expected [B, H, queries, D], [B, Hk, keys, D] and [B, Hk, keys, Dv]";
  EXPECT_EQ(text({2, 4, 3, 8}, {2, 3, 3, 8}, {2, 3, 3, 8}),
            "attention: the heads of the keys must divide those of the queries; q [2, 4, 3, 8], k "
            "[2, 3, 3, 8], v [2, 3, 3, 8]" +
                expected);
  EXPECT_EQ(text({2, 4, 3, 8}, {2, 4, 3, 7}, {2, 4, 3, 7}),
            "attention: queries and keys differ in size; q [2, 4, 3, 8], k [2, 4, 3, 7], v [2, 4, "
            "3, 7]" +
                expected);
  EXPECT_EQ(text({2, 4, 3, 8}, {2, 4, 5, 8}, {2, 4, 6, 8}),
            "attention: there must be a value for each key; q [2, 4, 3, 8], k [2, 4, 5, 8], v [2, "
            "4, 6, 8]" +
                expected);
  EXPECT_EQ(text({2, 4, 3, 8}, {2, 4, 5, 8}, {2, 4, 5, 8}, Tensor::ones({3, 4})),
            "attention: mask [3, 4] does not broadcast to [B, H, queries, keys] = [2, 4, 3, 5]");
  EXPECT_EQ(text({1, 1, 2, 2}, {1, 1, 2, 2}, {1, 1, 2, 2}, Tensor::ones({2, 2}, {DType::i64})),
            "attention: the mask is i64 beside q of f32; it takes bool or q's dtype");
}

TEST(Rope, AgreesWithPyTorchInValueAndGradient) {
  for (const auto& [name, c] : fixtures("attention").items()) {
    if (is_attention(c)) continue;
    SCOPED_TRACE(name);
    const Tensor x = array(c["x"]).attach_grad();
    const RopePairs pairs = c["neighbours"] ? RopePairs::neighbours : RopePairs::halves;
    Tensor y;
    {
      Record record;
      y = rope(x, {.pairs = pairs, .offset = c["offset"], .base = c["base"]});
    }
    y.backward(array(c["dy"]));
    expect_near(y, c["y"], 1e-10);
    expect_near(x.grad(), c["dx"], 1e-10);
  }
}

TEST(Rope, MakesProductsDependOnTheDistanceOfPositions) {
  const Tensor q = Tensor::of(std::vector<double>{.3, -1, 2, .7}, {1, 4});
  const Tensor k = Tensor::of(std::vector<double>{1, .2, -.5, 1.5}, {1, 4});
  const auto product = [&](int64_t at_q, int64_t at_k) {
    return sum(rope(q, {.offset = at_q}) * rope(k, {.offset = at_k})).item<double>();
  };
  EXPECT_NEAR(product(3, 1), product(102, 100), 1e-12);
  EXPECT_GT(std::abs(product(3, 1) - product(3, 2)), 1e-3);
}

TEST(Rope, NeedsPairs) {
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [] {
                         rope(Tensor::ones({2, 3}));
                       }),
            "rope: x [2, 3]; expected [..., T, D] with an even D");
}

}  // namespace
}  // namespace thalweg
