#include <limits>

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/conv.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

ConvOptions conv_options(const Json& c) {
  return {dims(c["stride"]), dims(c["padding"]), dims(c["dilation"]), c["groups"].get<int64_t>()};
}

Tensor leaf(const Json& value, DType dtype) {
  const Tensor t = array(value, dtype);
  return t.defined() ? t.attach_grad() : t;
}

Tensor run(const Json& c, const Tensor& x, const Tensor& w, const Tensor& b) {
  const ConvOptions o = conv_options(c);
  if (!c["transposed"].get<bool>()) return conv(x, w, b, o);
  return conv_transpose(x, w, b,
                        {o.stride, o.padding, dims(c["output_padding"]), o.dilation, o.groups});
}

void expect_case(const Json& c, DType dtype, double tolerance) {
  const Tensor x = leaf(c["x"], dtype), w = leaf(c["w"], dtype), b = leaf(c["b"], dtype);
  Tensor y;
  {
    Record record;
    y = run(c, x, w, b);
  }
  y.backward(array(c["dy"], dtype));
  expect_near(y, c["y"], tolerance);
  expect_near(x.grad(), c["dx"], tolerance);
  expect_near(w.grad(), c["dw"], tolerance);
  if (b.defined()) expect_near(b.grad(), c["db"], tolerance);
}

TEST(Conv, AgreesWithPyTorchInValueAndGradient) {
  for (const auto& [name, c] : fixtures("conv").items()) {
    SCOPED_TRACE(name);
    expect_case(c, DType::f64, 1e-9);
    expect_case(c, DType::f32, 2e-5);
    expect_case(c, DType::f16, 2e-2);
    expect_case(c, DType::bf16, 1e-1);
  }
}

TEST(Conv, GivesSecondDerivativesAsPyTorch) {
  for (const auto& [name, c] : fixtures("conv").items()) {
    if (!c.contains("ddx")) continue;
    SCOPED_TRACE(name);
    const Tensor x = leaf(c["x"], DType::f64), w = leaf(c["w"], DType::f64);
    const Tensor dy = array(c["dy"]).attach_grad();
    Tensor y;
    {
      Record record;
      y = run(c, x, w, {});
    }
    const Tensor variables[] = {x, w};
    const auto first = grad(std::span(&y, 1), variables, std::span(&dy, 1), {.create_graph = true});
    Tensor total;
    {
      Record record;
      total = sum(square(first[0])) + sum(square(first[1]));
    }
    total.backward();
    expect_near(x.grad(), c["ddx"], 1e-9);
    expect_near(w.grad(), c["ddw"], 1e-9);
    expect_near(dy.grad(), c["ddy"], 1e-9);
  }
}

// apache/mxnet#11203, microsoft/onnxruntime#2518
TEST(ConvTranspose, KeepsStrideAndDilationApart) {
  const Tensor x = Tensor::of({1., 2., 3., 4., 5., 6., 7., 8., 9.}, {1, 1, 3, 3}).attach_grad();
  const Tensor k = Tensor::of({9., 8., 7., 6., 5., 4., 3., 2., 0.}, {1, 1, 3, 3}).attach_grad();
  std::vector<double> weights(25);
  for (size_t i = 0; i < 25; ++i) weights[i] = static_cast<double>(i);
  const Tensor c = Tensor::of(weights, {1, 1, 5, 5});
  Tensor y;
  {
    Record record;
    y = conv_transpose(x, k, {}, {.stride = 2, .padding = 2, .dilation = 2});
  }
  y.backward(c);
  EXPECT_EQ(y.to_vector<double>(),
            (std::vector<double>{94, 0,   154, 0, 106, 0, 0, 0,   0, 0,   186, 0, 284,
                                 0,  184, 0,   0, 0,   0, 0, 106, 0, 150, 0,   89}));
  EXPECT_EQ(x.grad().to_vector<double>(),
            (std::vector<double>{28, 80, 96, 152, 324, 306, 352, 610, 472}));
  EXPECT_EQ(k.grad().to_vector<double>(),
            (std::vector<double>{200, 326, 224, 486, 732, 474, 288, 410, 248}));
  const Tensor padded =
      conv_transpose(x, k, {}, {.stride = 2, .padding = 2, .output_padding = 1, .dilation = 2});
  ASSERT_EQ(padded.shape(), (Shape{1, 1, 6, 6}));
  EXPECT_EQ(slice(slice(padded, 2, 0, 5), 3, 0, 5).to_vector<double>(), y.to_vector<double>());
  EXPECT_EQ(sum(padded).item<double>(), sum(y).item<double>());
}

// microsoft/onnxruntime#2518
TEST(ConvTranspose, CountsDilationInTheLengthOfOneAxis) {
  const Tensor y =
      conv_transpose(Tensor::of({1., 2., 3.}, {1, 1, 3}), Tensor::of({1., 10., 100.}, {1, 1, 3}),
                     {}, {.stride = 2, .padding = 1, .output_padding = 1, .dilation = 3});
  EXPECT_EQ(y.to_vector<double>(), (std::vector<double>{0, 2, 10, 3, 20, 100, 30, 200, 0, 300}));
}

struct SummedConv {
  Tensor x, w, b, y;
};

SummedConv summed_conv(const Tensor& x) {
  SummedConv s{x.attach_grad(),
               Tensor::ones({4, 2, 3}).attach_grad(),
               Tensor::full({4}, 4).attach_grad(),
               {}};
  {
    Record record;
    s.y = conv(s.x, s.w, s.b, {.padding = 1});
  }
  s.y.backward();
  return s;
}

// tensorflow/tensorflow#9949, FluxML/NNlib.jl#763
TEST(Conv, GivesZeroGradientsForAnEmptyBatch) {
  const SummedConv full = summed_conv(Tensor::ones({3, 2, 4}));
  EXPECT_EQ(sum(full.w.grad()).item<float>(), 240);
  EXPECT_EQ(sum(full.b.grad()).item<float>(), 48);
  for (int i = 0; i < 4; ++i) Tensor::full({4, 2, 3}, 1e30);  // dirties the memory that is reused
  const SummedConv none = summed_conv(Tensor::ones({0, 2, 5}));
  EXPECT_EQ(none.y.shape(), (Shape{0, 4, 5}));
  EXPECT_EQ(none.w.grad().to_vector<float>(), std::vector<float>(24, 0));
  EXPECT_EQ(none.b.grad().to_vector<float>(), std::vector<float>(4, 0));
  EXPECT_EQ(none.x.grad().shape(), (Shape{0, 2, 5}));
}

TEST(Conv, ReadsAnInputOfLengthZeroAsItsPadding) {
  const Tensor y =
      conv(Tensor::ones({1, 2, 0}), Tensor::ones({3, 2, 2}), Tensor::full({3}, 5), {.padding = 1});
  EXPECT_EQ(y.shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(3, 5));
}

TEST(Conv, GivesChannelsLastResults) {
  const Tensor y = conv(Tensor::ones({2, 3, 5, 6}), Tensor::ones({4, 3, 3, 3}));
  EXPECT_EQ(y.strides(), (Dims{48, 1, 16, 4}));
}

TEST(Conv, RejectsAKernelLargerThanThePaddedInput) {
  const auto text = error_text(ErrorKind::invalid, [] {
    conv(Tensor::ones({1, 1, 8, 2}), Tensor::ones({1, 1, 3, 3}), {}, {.padding = 1, .dilation = 2});
  });
  EXPECT_EQ(text,
            "conv: the kernel is larger than the padded input on axis 3 (5 > 4); x [1, 1, 8, 2], "
            "weight [1, 1, 3, 3], padding [1, 1], dilation [2, 2]");
}

TEST(Conv, RejectsOtherChannelsThanTheWeightTakes) {
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [] {
                         conv(Tensor::ones({2, 3, 5}), Tensor::ones({4, 2, 3}));
                       }),
            "conv: x [2, 3, 5] has 3 channels, weight [4, 2, 3] with 1 groups takes 2");
}

TEST(Conv, RejectsSettingsWhoseSizesOverflow) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kLarge = int64_t{1} << 40;
  const Tensor x = Tensor::ones({1, 1, 4}), w = Tensor::ones({1, 1, 3});
  for (const int64_t n : {kMax, kMax / 2, int64_t{1} << 62, kLarge}) {
    EXPECT_THROW(conv(x, w, {}, {.padding = n}), Error) << n;
    EXPECT_THROW(conv(x, w, {}, {.dilation = n}), Error) << n;
    EXPECT_THROW(conv_transpose(x, w, {}, {.stride = n}), Error) << n;
    EXPECT_THROW(conv_transpose(x, w, {}, {.padding = n}), Error) << n;
    EXPECT_THROW(conv_transpose(x, w, {}, {.dilation = n}), Error) << n;
  }
  EXPECT_EQ(conv(x, w, {}, {.stride = kLarge}).to_vector<float>(), std::vector<float>{3});
}

TEST(Conv, RejectsSettingsOfOtherAxes) {
  EXPECT_EQ(
      error_text(ErrorKind::invalid,
                 [] {
                   conv(Tensor::ones({2, 2, 5}), Tensor::ones({4, 2, 3}), {}, {.stride = {1, 2}});
                 }),
      "conv: stride [1, 2] has 2 numbers; give one, or one for each of the 1 spatial axes");
}

TEST(ConvTranspose, RejectsOutputPaddingOfAWholeStride) {
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [] {
                         conv_transpose(Tensor::ones({1, 1, 3}), Tensor::ones({1, 1, 3}), {},
                                        {.stride = 2, .output_padding = 2});
                       }),
            "conv_transpose: output_padding [2] is not below stride [2]");
}

}  // namespace
}  // namespace thalweg
