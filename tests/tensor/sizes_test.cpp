#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/ops/index.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>
#include <thalweg/tensor/tensor.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

using testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kHuge = int64_t{1} << 62;
constexpr int64_t kLarge = int64_t{1} << 40;

TEST(Sizes, WhatNoMemoryHoldsIsAnErrorBeforeAnyIsTaken) {
  reset_peak_memory();
  const size_t before = memory_stats().peak_live;
  const auto text_of = [](auto make) { return error_text(ErrorKind::invalid, make); };
  EXPECT_THAT(text_of([] { Tensor::zeros({kLarge, kLarge}); }), HasSubstr("63 bits"));
  EXPECT_THAT(text_of([] { Tensor::zeros({kLarge, kLarge, 3}); }), HasSubstr("63 bits"));
  const Tensor column = broadcast_to(Tensor::ones({1, 1}), {kLarge, 1});
  EXPECT_THAT(text_of([&] { broadcast_to(column, {kLarge, kLarge}); }), HasSubstr("63 bits"));
  EXPECT_THAT(text_of([&] { column + column.transpose(); }), HasSubstr("63 bits"));
  EXPECT_THAT(text_of([&] { tile(column, {1, kLarge}); }), HasSubstr("63 bits"));
  EXPECT_THAT(text_of([&] { repeat(column, kLarge, 1); }), HasSubstr("63 bits"));
  EXPECT_THAT(text_of([&] { pad(column, {0, kMost}, {0, 1}); }), HasSubstr("63 bits"));
  const Tensor line = broadcast_to(Tensor::ones({1}, {DType::u8}), {kHuge});
  EXPECT_THAT(text_of([&] { concat({line, line}, 0); }), HasSubstr("63 bits"));
  const Tensor none = Tensor::zeros({0});
  EXPECT_THAT(text_of([&] { reshape(none, {kLarge, kLarge}); }), HasSubstr("do not fill"));
  EXPECT_LE(memory_stats().peak_live, before + 4096);
}

}  // namespace
}  // namespace thalweg
