// Point-wise records that run tile by tile: the bits of the eager ops.

#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include <thalweg/base/threads.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/graph/plan.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

namespace thalweg {
namespace {

using Function = std::function<Tensor(const Tensor& x, const Tensor& y)>;

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.shape() == y.shape() &&
         std::memcmp(x.impl()->data, y.impl()->data,
                     static_cast<size_t>(x.size()) * item_size(x.dtype())) == 0;
}

// `joined` records run as fused ones.
void expect_fused(const Function& f, const Shape& shape, int joined, DType dtype = DType::f32) {
  auto planned = plan(f);
  for (int i = 0; i < 5; ++i) {
    set_num_threads(1 + i);
    const Tensor x = random_normal(shape).to(dtype), y = random_normal(shape).to(dtype);
    const Tensor wanted = f(x.clone(), y);
    EXPECT_TRUE(same_bits(planned(x, y), wanted)) << planned.explain();
  }
  set_num_threads(1);
  EXPECT_EQ(planned.counts().replayed, 3);
  const std::string note = std::to_string(joined) + " point-wise records joined";
  EXPECT_EQ(planned.explain().find(note) != std::string::npos, joined > 0) << planned.explain();
}

Tensor chain(const Tensor& x, const Tensor& y) {
  return tanh(x * y + 0.5) * sigmoid(y) - maximum(x, y);
}

TEST(Fusion, ChainsKeepTheirBitsWithAnyRestAndAnyNumberOfThreads) {
  for (const int64_t n : {16384, 16385, 20000, 65536, 99999}) expect_fused(chain, {n}, 7);
}

TEST(Fusion, ChainsOfEveryFloatingDtype) {
  for (const DType dtype : {DType::f64, DType::f16, DType::bf16})
    expect_fused(chain, {3, 7001}, 7, dtype);
}

TEST(Fusion, SmallTensorsAreLeftAlone) { expect_fused(chain, {1000}, 0); }

TEST(Fusion, OtherDtypesOnTheWay) {
  expect_fused(
      [](const Tensor& x, const Tensor& y) {
        return where(x > y, (x * 3).to(DType::f64), y.to(DType::f64)) + 1;
      },
      {21000}, 6);
}

TEST(Fusion, ChannelsLastTensorsOfOneLayout) {
  expect_fused(
      [](const Tensor& x, const Tensor& y) {
        const Tensor a = permute(x, {0, 3, 1, 2}), b = permute(y, {0, 3, 1, 2});
        return relu(a + b) * a;
      },
      {4, 20, 30, 10}, 3);
}

TEST(Fusion, LayoutsThatDifferAreNotJoined) {
  expect_fused(
      [](const Tensor& x, const Tensor& y) {
        const Tensor a = tanh(x), b = tanh(transpose(y));
        return a * transpose(b);
      },
      {150, 150}, 0);
}

TEST(Fusion, ChangesInPlaceAmongThem) {
  expect_fused(
      [](const Tensor& x, const Tensor& y) {
        const Tensor a = x * 2;
        const Tensor b = a + y;
        a += 1;
        a *= b;
        return a - b;
      },
      {30000}, 5);
}

TEST(Fusion, AViewInAnotherOrderOfWhatIsWritten) {
  expect_fused(
      [](const Tensor& x, const Tensor& y) {
        const Tensor a = x * 2;
        const Tensor b = a + slice(a, 0, Slice::kOpen, Slice::kOpen, -1);
        return b * y;
      },
      {30000}, 0);
}

TEST(Fusion, AViewThatIsShiftedAgainstWhatIsWritten) {
  expect_fused(
      [](const Tensor& x, const Tensor& y) {
        const Tensor a = x * 2;
        const Tensor low = slice(a, 0, 0, 29999), high = slice(a, 0, 1, 30000);
        low += slice(y, 0, 0, 29999);
        return high * 3;
      },
      {30000}, 0);
}

TEST(Fusion, OneElementOfATensorBesideTheWhole) {
  expect_fused(
      [](const Tensor& x, const Tensor& y) {
        const Tensor first = x[0] * 1;
        return (x - first) * (y + x[5]);
      },
      {30000}, 3);
}

TEST(Fusion, InnerResultsThatAreReadLaterAreThere) {
  expect_fused(
      [](const Tensor& x, const Tensor& y) {
        const Tensor a = tanh(x), b = a * y, c = b + 1;
        return c * sum(a) + sum(b);
      },
      {40000}, 5);
}

TEST(Fusion, InnerResultsTakeNoMemory) {
  auto planned = plan([](const Tensor& x) { return tanh(x * 2) + 1; });
  for (int i = 0; i < 4; ++i) planned(Tensor::ones({100000}));
  EXPECT_NE(planned.explain().find("temporaries in 0 bytes"), std::string::npos)
      << planned.explain();
}

TEST(Fusion, GradientsOfChains) {
  const Tensor w = random_normal({20000});
  w.attach_grad();
  const auto step = [&](const Tensor& x) {
    Tensor loss;
    {
      const Record record;
      loss = mean(square(tanh(w * x) * sigmoid(x) - 0.5));
    }
    loss.backward();
    return loss;
  };
  auto planned = plan(step);
  for (int i = 0; i < 6; ++i) {
    const Tensor x = random_normal({20000});
    const Tensor wanted = step(x);
    const Tensor wanted_grad = w.grad().clone();
    EXPECT_TRUE(same_bits(planned(x), wanted));
    EXPECT_TRUE(same_bits(w.grad(), wanted_grad));
  }
  EXPECT_NE(planned.explain().find("joined"), std::string::npos);
}

}  // namespace
}  // namespace thalweg
