#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "kernels/op_kernels.h"
#include "kernels/simd_targets.h"
#include "ops/reduce.h"
#include "ops/softmax.h"

namespace thalweg {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor values(const Shape& shape, DType dtype, double scale = 1) {
  std::vector<float> v(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < v.size(); ++i) {
    v[i] = static_cast<float>((static_cast<double>(i * 2654435761u % 1000) / 200 - 2.5) * scale);
  }
  return Tensor::of(v, shape).to(dtype);
}

Tensor labels(int64_t n, int64_t classes, DType dtype = DType::i64) {
  std::vector<int64_t> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i)] = i * 7 % classes;
  return Tensor::of(v).to(dtype);
}

Tolerance tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {1e-14, 1e-14};
    case DType::f32:
      return {5e-7, 2e-6};
    case DType::f16:
      return {1e-3, 2e-3};
    default:
      return {8e-3, 1e-2};
  }
}

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
constexpr const char* kForward[] = {"softmax", "log_softmax"};

TEST(SimdSoftmax, AgreesWithTheReferenceForEveryLength) {
  for_each_simd_target([] {
    for (int64_t n = 1; n <= 67; ++n) {
      const SoftmaxAttrs attrs{-1};
      for (const char* op : kForward) {
        const Tensor x = values({3, n}, DType::f32, 4);
        EXPECT_EQ(expect_kernels_agree(op, &attrs, {x}, tolerance(DType::f32)), 1);
      }
    }
  });
}

TEST(SimdSoftmax, AgreesWithTheReferenceForEveryDtype) {
  for_each_simd_target([] {
    for (DType dtype : kFloats) {
      for (int64_t n : {1, 10, 16, 65, 1000}) {
        const SoftmaxAttrs attrs{1};
        const Tensor x = values({7, n}, dtype, 3), g = values({7, n}, dtype);
        for (const char* op : kForward) {
          EXPECT_EQ(expect_kernels_agree(op, &attrs, {x}, tolerance(dtype)), 1);
        }
        const std::vector<Tensor> soft{g, softmax(x)}, log{g, log_softmax(x)};
        EXPECT_EQ(expect_kernels_agree("softmax_vjp", &attrs, soft, tolerance(dtype)), 1);
        const Tolerance sums{tolerance(dtype).absolute * 10, tolerance(dtype).relative};
        EXPECT_EQ(expect_kernels_agree("log_softmax_vjp", &attrs, log, sums), 1);
      }
    }
  });
}

TEST(SimdSoftmax, TakesTheAxisThatIsInnermostInMemory) {
  const SoftmaxAttrs channels{1};
  const Tensor channels_last = permute(values({2, 5, 6, 12}, DType::f32), {0, 3, 1, 2});
  EXPECT_EQ(expect_kernels_agree("softmax", &channels, {channels_last}, tolerance(DType::f32)), 1);
  const Tensor planes = values({2, 12, 5, 6}, DType::f32);
  EXPECT_EQ(expect_kernels_agree("softmax", &channels, {planes}, tolerance(DType::f32)), 0);
}

TEST(SimdSoftmax, KeepsMaskedRowsAndNan) {
  const std::vector<float> rows = {-kInf, -kInf, -kInf, 1, -kInf, 2, kInf,    0, 1,
                                   NAN,   0,     1,     0, 0,     0, 1000.0f, 0, -1000.0f};
  const Tensor x = Tensor::of(rows, {6, 3});
  for_each_simd_target([&] {
    const SoftmaxAttrs attrs{-1};
    for (const char* op : kForward) {
      EXPECT_EQ(expect_kernels_agree(op, &attrs, {x}, tolerance(DType::f32)), 1);
    }
    const ReduceAttrs last{{1}, false};
    EXPECT_EQ(expect_kernels_agree("logsumexp", &last, {x}, tolerance(DType::f32)), 1);
  });
}

TEST(SimdSoftmax, SumsExponentialsOfRuns) {
  for (DType dtype : kFloats) {
    const ReduceAttrs last{{1}, false}, all{{0, 1}, true};
    for (int64_t n : {2, 10, 33, 500}) {
      const Tensor x = values({9, n}, dtype, 5);
      EXPECT_EQ(expect_kernels_agree("logsumexp", &last, {x}, tolerance(dtype)), 1);
      EXPECT_EQ(expect_kernels_agree("logsumexp", &all, {x}, tolerance(dtype)), 1);
    }
  }
}

void expect_loss_agrees(const SoftmaxCrossEntropyAttrs& attrs, const Tensor& x, const Tensor& y) {
  const Tolerance t = tolerance(x.dtype());
  EXPECT_EQ(expect_kernels_agree("softmax_cross_entropy", &attrs, {x, y, Tensor()}, t), 1);
  const Tensor g = values(y.shape(), x.dtype());
  const std::vector<Tensor> inputs{g, x, y, Tensor()};
  EXPECT_EQ(expect_kernels_agree("softmax_cross_entropy_vjp", &attrs, inputs, t), 1);
}

TEST(SimdSoftmax, CrossEntropyAgreesWithTheReference) {
  for_each_simd_target([] {
    for (DType dtype : kFloats) {
      for (int64_t n : {1, 2, 10, 16, 33, 200}) {
        expect_loss_agrees({}, values({65, n}, dtype, 3), labels(65, n));
        expect_loss_agrees({-1, 0.1}, values({5, n}, dtype, 3), labels(5, n, DType::i32));
        expect_loss_agrees({-1, 0.2, 0}, values({5, n}, dtype, 3), labels(5, n, DType::u8));
      }
      expect_loss_agrees({2, 0}, values({3, 4, 10}, dtype), reshape(labels(12, 10), {3, 4}));
    }
  });
}

TEST(SimdSoftmax, CrossEntropyOfCertainLogitsIsFinite) {
  const Tensor x = Tensor::of({1000.0f, 0.0f, -1000.0f, 1000.0f}, {2, 2});
  expect_loss_agrees({}, x, labels(2, 2));
  expect_loss_agrees({}, x, Tensor::of({int64_t{1}, int64_t{0}}));
}

TEST(SimdSoftmax, CrossEntropyNamesALabelThatIsNoClass) {
  const Tensor x = values({3, 4}, DType::f32);
  const Tensor bad = Tensor::of({int64_t{0}, int64_t{4}, int64_t{1}});
  EXPECT_NE(error_text(ErrorKind::invalid, [&] { softmax_cross_entropy(x, bad); })
                .find("label 4 of sample 1 is none of the 4 classes"),
            std::string::npos);
}

}  // namespace
}  // namespace thalweg
