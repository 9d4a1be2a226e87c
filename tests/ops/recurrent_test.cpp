// What the op takes and refuses; its numbers are in tests/nn/recurrent_test.cpp.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/recurrent.h>
#include <thalweg/ops/reduce.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

template <typename Action>
std::string text(Action action) {
  return error_text(ErrorKind::invalid, action);
}

constexpr RecurrentCell kLstm = RecurrentCell::lstm, kGru = RecurrentCell::gru;

TEST(Recurrent, WithoutTimesGivesTheFirstStates) {
  const Tensor h0 = Tensor::of({1.f, 2.f}, {1, 2}).attach_grad();
  const Tensor c0 = Tensor::of({3.f, 4.f}, {1, 2});
  Tensor total;
  {
    const Record record;
    const RecurrentResult r =
        recurrent(kLstm, Tensor::ones({1, 0, 8}), Tensor::ones({8, 2}), {.h0 = h0, .c0 = c0});
    EXPECT_EQ(r.y.shape(), (Shape{1, 0, 2}));
    EXPECT_EQ(r.h.to_vector<float>(), h0.to_vector<float>());
    EXPECT_EQ(r.c.to_vector<float>(), c0.to_vector<float>());
    total = sum(r.h * 3);
  }
  total.backward();
  EXPECT_EQ(h0.grad().to_vector<float>(), (std::vector<float>{3, 3}));
}

TEST(Recurrent, ASequenceOfLengthZeroKeepsItsStateAndGetsNoGradientFromItsGates) {
  const Tensor gates = Tensor::ones({2, 3, 3}).attach_grad();
  const Tensor h0 = Tensor::of({0.5f, 0.25f}, {2, 1});
  Tensor total;
  RecurrentResult r;
  {
    const Record record;
    r = recurrent(kGru, gates, Tensor::ones({3, 1}),
                  {.h0 = h0, .lengths = Tensor::of<int64_t>({0, 3})});
    total = sum(r.y) + sum(r.h);
  }
  total.backward();
  EXPECT_EQ(r.h.to_vector<float>()[0], 0.5f);
  const std::vector<float> y = r.y.to_vector<float>(), g = gates.grad().to_vector<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 3), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(std::vector<float>(g.begin(), g.begin() + 9), std::vector<float>(9, 0));
  EXPECT_NE(g[9], 0);
}

// What padding holds reaches neither results nor gradients, even if it is no number.
TEST(Recurrent, PaddingMayHoldAnything) {
  const auto run = [](float padding) {
    std::vector<float> values(2 * 8, 0.5f);
    std::fill(values.begin() + 8, values.end(), padding);
    const Tensor gates = Tensor::of(values, {1, 2, 8});
    const Tensor weight = Tensor::full({8, 2}, 0.25).attach_grad();
    Tensor total;
    {
      const Record record;
      const RecurrentResult r =
          recurrent(kLstm, gates, weight, {.lengths = Tensor::of<int64_t>({1}), .reverse = true});
      total = sum(r.y) + sum(r.h) + sum(r.c);
    }
    total.backward();
    std::vector<float> all = weight.grad().to_vector<float>();
    all.push_back(total.item<float>());
    return all;
  };
  EXPECT_EQ(run(std::nanf("")), run(0));
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  const Tensor gates = Tensor::ones({2, 3, 8}), weight = Tensor::ones({8, 2});
  EXPECT_EQ(text([&] { recurrent(kGru, gates, weight); }),
            "recurrent: weight of shape [8, 2]; a cell with 3 gates takes [3 * units, units]");
  EXPECT_EQ(text([&] {
              recurrent(kLstm, Tensor::ones({2, 3, 4}), weight);
            }),
            "recurrent: the input's gates of shape [2, 3, 4]; expected [2, 3, 8]");
  EXPECT_EQ(text([&] {
              recurrent(kLstm, gates, weight, {.h0 = Tensor::ones({2, 3})});
            }),
            "recurrent: h0 of shape [2, 3]; expected [2, 2]");
  EXPECT_EQ(text([&] { recurrent(kLstm, gates, weight, {.bias = Tensor::ones({2})}); }),
            "recurrent: bias of shape [2]; expected [8]");
  EXPECT_EQ(text([&] { recurrent(kLstm, gates, weight, {.lengths = Tensor::of<int64_t>({1})}); }),
            "recurrent: lengths of shape [1]; expected [2]");
  EXPECT_EQ(text([&] {
              recurrent(kLstm, gates, weight, {.lengths = Tensor::of<int64_t>({1, -1})});
            }),
            "recurrent: the length of sequence 1 is -1; it must be from 0 to 3");
  const Tensor c0 = Tensor::ones({2, 2}), narrow = Tensor::ones({6, 2});
  EXPECT_EQ(text([&] {
              recurrent(kGru, Tensor::ones({2, 3, 6}), narrow, {.c0 = c0});
            }),
            "recurrent: c0 given for a cell without a cell state; only lstm has one");
  EXPECT_NE(text([&] {
              recurrent(kLstm, Tensor::ones({2, 8}), weight);
            }).find("[batch, time"),
            std::string::npos);
  EXPECT_NE(text([&] { recurrent(kLstm, gates.to(DType::f64), weight); }).find("f64"),
            std::string::npos);
}

}  // namespace
}  // namespace thalweg
