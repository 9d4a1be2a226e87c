#include <array>
#include <limits>

#include <gtest/gtest.h>

#include <thalweg/base/bytes.h>

namespace thalweg {
namespace {

using Eight = std::array<std::byte, 8>;

constexpr Eight kBytes{std::byte{0xf1}, std::byte{0x02}, std::byte{0x03}, std::byte{0x04},
                       std::byte{0x05}, std::byte{0x06}, std::byte{0x07}, std::byte{0x08}};

TEST(BytesOrder, LoadsEveryWidthInBothOrders) {
  EXPECT_EQ(load_le<uint8_t>(kBytes.data()), 0xf1);
  EXPECT_EQ(load_le<uint16_t>(kBytes.data()), 0x02f1);
  EXPECT_EQ(load_be<uint16_t>(kBytes.data()), 0xf102);
  EXPECT_EQ(load_be<int16_t>(kBytes.data()), -0x0efe);
  EXPECT_EQ(load_le<uint32_t>(kBytes.data()), 0x040302f1u);
  EXPECT_EQ(load_be<uint32_t>(kBytes.data()), 0xf1020304u);
  EXPECT_EQ(load_le<uint64_t>(kBytes.data()), 0x08070605040302f1u);
  EXPECT_EQ(load_be<uint64_t>(kBytes.data()), 0xf102030405060708u);
}

TEST(BytesOrder, OneHasItsBytesOfIeee754) {
  Eight bytes{};
  store_be(1.0f, bytes.data());
  EXPECT_EQ(load_be<uint32_t>(bytes.data()), 0x3f800000u);
  store_le(1.0, bytes.data());
  EXPECT_EQ(bytes[7], std::byte{0x3f});
  EXPECT_EQ(bytes[6], std::byte{0xf0});
}

template <typename T>
void expect_round_trip(T value) {
  Eight bytes{};
  store_le(value, bytes.data());
  EXPECT_EQ(load_le<T>(bytes.data()), value);
  store_be(value, bytes.data());
  EXPECT_EQ(load_be<T>(bytes.data()), value);
}

TEST(BytesOrder, StoredNumbersLoadAgain) {
  expect_round_trip<int8_t>(-128);
  expect_round_trip<uint16_t>(0xfedc);
  expect_round_trip(std::numeric_limits<int32_t>::min());
  expect_round_trip(std::numeric_limits<int64_t>::min() + 1);
  expect_round_trip(-0.1f);
  expect_round_trip(1e-300);
}

}  // namespace
}  // namespace thalweg
