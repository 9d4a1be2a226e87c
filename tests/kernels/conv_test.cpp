#include "ops/conv.h"

#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/samples.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"

namespace thalweg {
namespace {

struct Case {
  Shape x, w;
  ConvAttrs attrs;
  double slack = 1;  // of the tolerance: Winograd's transforms round more than sums do
};

// One to three axes; few and many channels; strides, padding, dilation and groups that leave rests.
const Case kCases[] = {
    {{3, 1, 28, 28}, {6, 1, 5, 5}, {{1, 1}, {2, 2}, {1, 1}, 1}},
    {{3, 6, 14, 14}, {16, 6, 5, 5}, {{1, 1}, {0, 0}, {1, 1}, 1}},
    {{2, 3, 17, 15}, {20, 3, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 1}},
    {{2, 16, 9, 9}, {33, 16, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}},
    {{2, 32, 8, 8}, {32, 32, 1, 1}, {{1, 1}, {0, 0}, {1, 1}, 1}},
    {{2, 32, 8, 8}, {24, 32, 1, 1}, {{2, 2}, {0, 0}, {1, 1}, 1}},
    {{2, 8, 13, 11}, {8, 8, 3, 2}, {{1, 3}, {2, 1}, {2, 3}, 1}},
    {{2, 12, 9, 10}, {18, 4, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 3}},
    {{2, 16, 9, 10}, {16, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 16}},
    {{9, 4, 5, 5}, {4, 4, 2, 2}, {{3, 3}, {0, 0}, {1, 1}, 1}},
    {{2, 5, 300}, {7, 5, 4}, {{1}, {3}, {1}, 1}},
    {{2, 5, 700}, {64, 5, 3}, {{2}, {0}, {5}, 1}},
    {{2, 3, 5, 6, 7}, {4, 3, 2, 3, 3}, {{1, 2, 1}, {1, 0, 1}, {1, 1, 2}, 1}},
    {{1, 1, 40, 64}, {2, 1, 1, 1}, {{1, 1}, {0, 0}, {1, 1}, 1}},
    {{9, 1, 20, 41}, {11, 1, 3, 4}, {{2, 1}, {1, 2}, {2, 3}, 1}},
    {{2, 1, 4, 9, 12}, {3, 1, 2, 3, 3}, {{1, 2, 1}, {1, 1, 1}, {1, 1, 1}, 1}},
    {{2, 1, 33}, {20, 1, 3}, {{1}, {1}, {1}, 1}},
    {{9, 16, 16, 15}, {32, 16, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}, 4},
    {{2, 48, 9, 8}, {16, 48, 3, 3}, {{1, 1}, {1, 0}, {1, 1}, 1}, 4},
    {{2, 16, 6, 6}, {16, 16, 3, 3}, {{1, 1}, {2, 2}, {1, 1}, 1}, 4},
    {{0, 3, 8, 8}, {4, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}},
    {{2, 0, 8, 8}, {4, 0, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}},
    {{1, 3, 2, 2}, {4, 3, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 1}},
};

Tensor channels_last(const Tensor& x) {
  const Shape& s = x.shape();
  if (x.size() == 0) return x;
  return permute(contiguous(permute(reshape(x, {s[0], s[1], -1}), {0, 2, 1})), {0, 2, 1})
      .reshape(s);
}

Shape result_shape(const Case& c) {
  Shape shape{c.x[0], c.w[0]};
  for (size_t i = 0; i < c.attrs.stride.size(); ++i) {
    const int64_t window = c.attrs.dilation[i] * (c.w[i + 2] - 1) + 1;
    shape.push_back((c.x[i + 2] + 2 * c.attrs.padding[i] - window) / c.attrs.stride[i] + 1);
  }
  return shape;
}

Dims missing_rows(const Case& c) {
  const Shape y = result_shape(c);
  Dims missing;
  for (size_t i = 0; i < c.attrs.stride.size(); ++i) {
    const int64_t window = c.attrs.dilation[i] * (c.w[i + 2] - 1) + 1;
    missing.push_back(c.x[i + 2] -
                      ((y[i + 2] - 1) * c.attrs.stride[i] + window - 2 * c.attrs.padding[i]));
  }
  return missing;
}

Tolerance tolerance(DType dtype, int64_t terms, double slack = 1) {
  const double epsilon = dtype == DType::f64 ? 2.3e-16 : 1.2e-7;
  const double rounding = dtype == DType::bf16 ? 8e-3 : dtype == DType::f16 ? 1e-3 : 4 * epsilon;
  return {slack * epsilon * static_cast<double>(terms + 8), rounding};
}

// Calls f(draw, case, make) for both dtypes and layouts; make draws an image in that layout.
template <typename F>
void for_each_case(F&& f) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    for (const bool last : {false, true}) {
      for (const Case& c : kCases) {
        SCOPED_TRACE("x " + to_string(c.x) + ", weight " + to_string(c.w) +
                     (last ? ", channels last" : ""));
        Samples draw(dtype);
        f(draw, c, [&](const Shape& shape) {
          const Tensor x = draw.spread(shape, -1, 1);
          return last ? channels_last(x) : x;
        });
      }
    }
  }
}

TEST(ConvKernels, AgreeWithTheReference) {
  for_each_case([](Samples& draw, const Case& c, auto&& image) {
    const Tolerance allowed = tolerance(draw.dtype(), element_count(c.w), c.slack);
    const std::vector<Tensor> inputs{image(c.x), draw.spread(c.w, -1, 1),
                                     draw.spread({c.w[0]}, -1, 1)};
    EXPECT_GE(expect_kernels_agree("conv", &c.attrs, inputs, allowed), 1);
    EXPECT_GE(expect_kernels_agree("conv", &c.attrs, {inputs[0], inputs[1], Tensor()}, allowed), 1);
  });
}

TEST(ConvTransposeKernels, AgreeWithTheReference) {
  for_each_case([](Samples& draw, const Case& c, auto&& image) {
    if (result_shape(c)[0] == 0 || c.w[1] == 0) return;
    const Tolerance allowed = tolerance(draw.dtype(), element_count(c.w), c.slack);
    const ConvTransposeAttrs attrs{c.attrs.stride, c.attrs.padding, missing_rows(c),
                                   c.attrs.dilation, c.attrs.groups};
    const std::vector<Tensor> inputs{image(result_shape(c)), draw.spread(c.w, -1, 1),
                                     draw.spread({c.x[1]}, -1, 1)};
    EXPECT_GE(expect_kernels_agree("conv_transpose", &attrs, inputs, allowed), 1);
    EXPECT_GE(
        expect_kernels_agree("conv_transpose", &attrs, {inputs[0], inputs[1], Tensor()}, allowed),
        1);
  });
}

TEST(ConvWeightGradientKernels, AgreeWithTheReference) {
  for_each_case([](Samples& draw, const Case& c, auto&& image) {
    const Shape y = result_shape(c);
    const ConvWeightAttrs attrs{c.attrs.stride, c.attrs.padding, c.attrs.dilation,
                                Dims(std::span<const int64_t>(c.w).subspan(2)), c.attrs.groups};
    const Tolerance allowed =
        tolerance(draw.dtype(), element_count(y) / std::max<int64_t>(y[1], 1), c.slack);
    EXPECT_GE(expect_kernels_agree("conv_weight_gradient", &attrs, {image(c.x), image(y)}, allowed),
              1);
  });
}

TEST(ConvKernels, TakeViews) {
  Samples draw(DType::f32);
  const Tensor wide = draw.spread({2, 8, 20, 30}, -1, 1);
  const ConvAttrs attrs{{1, 1}, {1, 1}, {1, 1}, 1};
  const Tensor x = slice(slice(wide, 3, 2, 30, 2), 1, 1, 6);
  const Tensor w = permute(draw.spread({3, 3, 5, 7}, -1, 1), {3, 2, 0, 1});
  const Tensor bias = slice(draw.spread({21}, -1, 1), 0, 0, 21, 3);
  EXPECT_GE(expect_kernels_agree("conv", &attrs, {x, w, bias}, tolerance(DType::f32, 315)), 1);
  const ConvTransposeAttrs back{{1, 1}, {1, 1}, {0, 0}, {1, 1}, 1};
  const Tensor w2 = permute(draw.spread({3, 3, 4, 5}, -1, 1), {3, 2, 0, 1});
  EXPECT_GE(
      expect_kernels_agree("conv_transpose", &back, {x, w2, Tensor()}, tolerance(DType::f32, 180)),
      1);
}

}  // namespace
}  // namespace thalweg
