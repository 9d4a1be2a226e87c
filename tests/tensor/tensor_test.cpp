#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/views.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {
namespace {

TEST(Half, RoundsToNearestEven) {
  // IEEE 754 binary16: 1 + 2^-11 is halfway and goes to the even 1; 65520 is halfway to infinity.
  EXPECT_EQ(Float16(1.0f + 0x1p-11f).bits, 0x3c00);
  EXPECT_EQ(Float16(1.0f + 3 * 0x1p-11f).bits, 0x3c02);
  EXPECT_EQ(Float16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Float16(0x1p-24f).bits, 1);
  EXPECT_EQ(Float16(0x1p-25f).bits, 0);
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.0f + 3 * 0x1p-8f).bits, 0x3f82);
}

TEST(Half, ReadsBackEveryFloat16) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Float16 half = Float16::from_bits(static_cast<uint16_t>(bits));
    const float value = half;
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(float(Float16(value))));
    else
      ASSERT_EQ(Float16(value).bits, bits);
  }
}

TEST(DType, PromotesAsTheArrayApiSays) {
  EXPECT_EQ(promote(DType::f32, DType::f64), DType::f64);
  EXPECT_EQ(promote(DType::u8, DType::i8), DType::i16);
  EXPECT_EQ(promote(DType::u8, DType::i64), DType::i64);
  EXPECT_EQ(promote(DType::i32, DType::i16), DType::i32);
  EXPECT_EQ(promote(DType::boolean, DType::i8), DType::i8);
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote(DType::i64, DType::f16), DType::f16);
  for (int a = 0; a < kDTypes; ++a) {
    for (int b = 0; b < kDTypes; ++b) {
      EXPECT_EQ(promote(DType(a), DType(b)), promote(DType(b), DType(a)));
    }
  }
}

TEST(Tensor, ChecksWhatTheHostAsksFor) {
  const Tensor x = Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  EXPECT_EQ(x.data<float>()[3], 4);
  EXPECT_THROW(x.data<double>(), Error);
  EXPECT_THROW(x.transpose().data<float>(), Error);
  EXPECT_EQ(x.transpose().to_vector<float>(), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_THROW(x.item<float>(), Error);
  EXPECT_THROW(Tensor::of({1.0f, 2.0f}, {3}), Error);
}

TEST(Tensor, GivesItsOnlyElementExactlyOrAnError) {
  EXPECT_EQ(Tensor::of<int64_t>({9007199254740993}).item<int64_t>(), 9007199254740993);
  EXPECT_EQ(Tensor::scalar(3).item<int>(), 3);
  EXPECT_THROW(Tensor::scalar(300).item<uint8_t>(), Error);
  EXPECT_THROW(Tensor::scalar(0.5).item<int>(), Error);
}

TEST(Tensor, HasNoNegativeValueAsAnUnsignedItem) {
  EXPECT_THROW(Tensor::of<int64_t>({-1}).item<uint64_t>(), Error);
  EXPECT_EQ(Tensor::of<int64_t>({7}).item<uint64_t>(), 7u);
}

TEST(Tensor, AnUndefinedOneIsAnErrorAndNoCrash) {
  const Tensor u, x = Tensor::ones({2});
  EXPECT_THROW(u.shape(), Error);
  EXPECT_THROW(u.size(), Error);
  EXPECT_THROW(u.data<float>(), Error);
  EXPECT_THROW(u.mutable_data<float>(), Error);
  EXPECT_THROW(u.item<float>(), Error);
  EXPECT_THROW(u.to_vector<float>(), Error);
  EXPECT_EQ(u.grad_req(), GradReq::null);
  EXPECT_EQ(to_string(u), "undefined tensor");
}

TEST(Tensor, RefusesSizesThatCannotBe) {
  EXPECT_THROW(Tensor::zeros({-1, 2}), Error);
  EXPECT_THROW(Tensor::zeros({int64_t{1} << 40, int64_t{1} << 40}), Error);
  EXPECT_THROW(Tensor::zeros(Shape(9, 1)), Error);
  EXPECT_EQ(Tensor::zeros({0, int64_t{1} << 62}).size(), 0);
  EXPECT_THROW(Tensor::full({2}, 300, {.dtype = DType::u8}), Error);
}

// numpy/numpy#1683, pytorch/pytorch#48401
TEST(InPlace, ReadsItsOperandAsItWasBefore) {
  const Tensor a = Tensor::of({0.0f, 1.0f, 2.0f, 3.0f}, {2, 2});
  a += a.transpose();
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{0, 3, 3, 6}));
  const Tensor v = Tensor::of({0.0f, 1.0f, 2.0f, 3.0f, 4.0f});
  slice(v, 0, 1, 5) += slice(v, 0, 0, 4);
  EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{0, 1, 3, 5, 7}));
  const Tensor w = Tensor::of({0.0f, 1.0f, 2.0f, 3.0f, 4.0f});
  slice(w, 0, 1, 5).assign(slice(w, 0, 0, 4));
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{0, 0, 1, 2, 3}));
  const Tensor e = broadcast_to(Tensor::of({1.0f}), {4});
  EXPECT_THROW(e += 1.0, Error);
}

TEST(Memory, ComesFromTheCacheTheSecondTime) {
  { const Tensor warm = Tensor::zeros({1000, 1000}); }
  const uint64_t before = memory_stats().system_allocations;
  for (int i = 0; i < 10; ++i) const Tensor again = Tensor::zeros({1000, 1000});
  EXPECT_EQ(memory_stats().system_allocations, before);
}

TEST(Memory, CountsLiveBytesAndTheirPeak) {
  const size_t before = memory_stats().live;
  reset_peak_memory();
  {
    const Tensor big = Tensor::zeros({1 << 20});
    EXPECT_GE(memory_stats().live, before + (4u << 20));
  }
  EXPECT_LE(memory_stats().live, before + 4096);
  EXPECT_GE(memory_stats().peak_live, before + (4u << 20));
}

}  // namespace
}  // namespace thalweg
