#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {
namespace {

TEST(Print, LaysOutRowsLikeNumPy) {
  EXPECT_EQ(to_string(Tensor::of({1.0f, 2.5f, -3.0f, 4.0f}, {2, 2})), "[[  1, 2.5],\n [ -3,   4]]");
  EXPECT_EQ(to_string(Tensor::of<int64_t>({1, 2, 3, 4}, {2, 2, 1})),
            "[[[1],\n  [2]],\n\n [[3],\n  [4]]]");
}

// pytorch/pytorch#9395 and #7175
TEST(Print, ShowsFloatsThatReadBack) {
  for (float value : {2e-5f, 0.05524f, 1e28f, 1e-28f, 0.1f, 123456.7f}) {
    const std::string text = to_string(Tensor::of({value}));
    EXPECT_NEAR(std::stod(text.substr(1)) / value, 1, 1e-3) << text;
  }
  const std::string mixed = to_string(Tensor::of({1e28f, 1e-28f}));
  EXPECT_NEAR(std::stod(mixed.substr(1)) / 1e28, 1, 1e-3) << mixed;
  EXPECT_NEAR(std::stod(mixed.substr(mixed.find(',') + 1)) / 1e-28, 1, 1e-3) << mixed;
  EXPECT_EQ(to_string(Tensor::scalar(1.5)), "1.5");
  const std::string half = to_string(Tensor::full({1}, 0.1, {.dtype = DType::bf16}));
  EXPECT_NEAR(std::stod(half.substr(1)), 0.1, 1e-3 * 0.1 * 4) << half;
}

TEST(Print, ShowsIntegersInFull) {
  EXPECT_EQ(to_string(Tensor::of<int64_t>({2341234123412341}, {})), "2341234123412341");
  EXPECT_EQ(to_string(Tensor::of<int32_t>({16777217, 16777216})), "[16777217, 16777216] dtype=i32");
}

TEST(Print, ShowsWhatIsNoNumber) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_string(Tensor::of({-0.0f, std::nanf(""), inf})), "[ -0, nan, inf]");
  EXPECT_EQ(to_string(Tensor::of({true, false})), "[ true, false]");
}

TEST(Print, ShowsTheShapeOfAnEmptyTensor) {
  EXPECT_EQ(to_string(Tensor::zeros({0, 3})), "[] shape=[0, 3]");
  EXPECT_EQ(to_string(Tensor::zeros({2, 0})), "[[],\n []] shape=[2, 0]");
  EXPECT_EQ(to_string(Tensor()), "undefined tensor");
}

TEST(Print, ShortensLongTensors) {
  const std::string text = to_string(Tensor::zeros({100, 100}));
  EXPECT_NE(text.find("..."), std::string::npos);
  EXPECT_TRUE(text.ends_with("shape=[100, 100]")) << text;
  EXPECT_LT(text.size(), 400u);
}

TEST(Print, FollowsTheStridesOfAView) {
  EXPECT_EQ(to_string(Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}).transpose()),
            "[[1, 3],\n [2, 4]]");
}

}  // namespace
}  // namespace thalweg
