#include "data/formats/decimal.h"

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thalweg/base/philox.h>

#include "data/formats/plain_values.h"

namespace thalweg::data {
namespace {

// How far the number goes and its value; -1 for no number.
template <typename T>
std::pair<int, T> parse(const std::string& text) {
  const std::string padded = text + std::string(kDecimalPadding, '\n');
  T value = 0;
  const char* const end = parse_decimal(padded.data(), padded.data() + text.size(), value);
  return {end == nullptr ? -1 : static_cast<int>(end - padded.data()), value};
}

// The C library rounds correctly.
template <typename T>
T reference(const std::string& text) {
  if constexpr (sizeof(T) == 4) return std::strtof(text.c_str(), nullptr);
  return std::strtod(text.c_str(), nullptr);
}

template <typename T>
void expect_right(const std::string& text) {
  const auto [size, value] = parse<T>(text);
  ASSERT_EQ(size, static_cast<int>(text.size())) << text;
  ASSERT_EQ(value, reference<T>(text)) << text;
  ASSERT_EQ(std::signbit(value), std::signbit(reference<T>(text))) << text;
  // The same number as one of many.
  const std::string row = "|F " + text + " " + text + std::string(kDecimalPadding, '\n');
  T values[2];
  ASSERT_NE(
      parse_plain_values(row.data() + 2, row.data() + row.size() - kDecimalPadding, values, 2),
      nullptr)
      << text;
  ASSERT_EQ(values[0], reference<T>(text)) << text;
  ASSERT_EQ(values[1], reference<T>(text)) << text;
}

void expect_right_both(const std::string& text) {
  expect_right<float>(text);
  expect_right<double>(text);
}

TEST(Decimal, ReadsEveryFormOfANumber) {
  for (const char* text : {"0",
                           "-0",
                           "7",
                           "255",
                           "1234567",
                           "12345678",
                           "123456789",
                           "00000000012",
                           "1.5",
                           "5.",
                           ".5",
                           "-.5",
                           "+3",
                           "+.25",
                           "002.0",
                           "1E+05",
                           "9.1e-011",
                           "1e5",
                           "-1.15459e-009",
                           "0.1",
                           "0.123456",
                           "-0.1234567",
                           "1.17549435e-38",
                           "0e999",
                           "1e-400",
                           "16777217",
                           "9007199254740993",
                           "0.000000000000000000000000000000000000001e39",
                           "123456789012345678901234567890e-20"})
    expect_right_both(text);
  expect_right<float>("3.4028235e38");
  expect_right<double>("1.7976931348623157e308");
}

TEST(Decimal, RoundsOnce) {
  // Midway between two f32, and a little off: 16777217 is midway, as is 1 + 2^-24.
  for (const char* text :
       {"16777217", "16777217.0", "16777217.0001", "1.000000059604644775390625",
        "1.00000005960464477539", "1.0000000596046448", "5.9604645e-8", "8388609.5", "8388608.5",
        "0.100000001490116119384765625", "7.0064923216240854e-46", "33554435e0", "67108865e-1"})
    expect_right_both(text);
}

TEST(Decimal, RefusesWhatIsNoFiniteNumber) {
  for (const char* text : {"", "-", "+", ".", "-.", "nan", "inf", "-inf", "e5", "x", "--1", "+-1"})
    EXPECT_EQ(parse<float>(text).first, -1) << text;
  EXPECT_EQ(parse<float>("1e39").first, -1);
  EXPECT_EQ(parse<float>("340282356779733661637539395458142568448").first, -1);
  EXPECT_EQ(parse<double>("1e999").first, -1);
  EXPECT_EQ(parse<double>("1e39").first, 4);
  // Ends where the number does.
  EXPECT_EQ(parse<float>("0x10").first, 1);
  EXPECT_EQ(parse<float>("2,5").first, 1);
  EXPECT_EQ(parse<float>("1e").first, 1);
  EXPECT_EQ(parse<float>("1-2").first, 1);
}

TEST(Decimal, AgreesWithTheCLibraryOnRandomNumbers) {
  Philox random(3);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t bits = random.bounded(0xFFFFFFFFu);
    float value;
    std::memcpy(&value, &bits, 4);
    std::string text;
    switch (random.bounded(6)) {
      case 0:
        text = fmt::format("{}.{:0{}}", random.bounded(1000), random.bounded(10000000),
                           7 + random.bounded(3));
        break;
      case 1:
        text = fmt::format("{}{}", random.bounded(2) ? "-" : "", random.bounded(100000000));
        break;
      case 2:
        text = fmt::format("{}e{}", random.bounded(1000000),
                           static_cast<int>(random.bounded(60)) - 40);
        break;
      case 3:
        text = fmt::format("{:.9g}", std::isfinite(value) ? value : 0);
        break;
      case 4:
        // Midway between two f32 that lie next to each other.
        text = fmt::format("{:.30g}", 0.5 * (double(value) + std::nextafter(value, 0.0f)));
        if (!std::isfinite(value)) text = "0";
        break;
      default:
        text = fmt::format("{:.{}f}", random.bounded(1000000) / 1e5, random.bounded(12));
    }
    expect_right<float>(text);
    expect_right<double>(text);
    if (HasFatalFailure()) return;
  }
}

TEST(PlainValues, FindsTheRightNumberOfThem) {
  const auto parsed = [](const std::string& values_text, size_t dim) {
    const std::string text = "|F" + values_text + std::string(kDecimalPadding, '\n');
    const size_t size = text.size() - kDecimalPadding;
    const char* const begin = text.data() + 2;
    std::vector<float> values(dim);
    const char* end = parse_plain_values(begin, text.data() + size, values.data(), dim);
    return end == nullptr ? -1 : static_cast<int>(end - begin);
  };
  EXPECT_EQ(parsed(" 1 2 3", 3), 6);
  EXPECT_EQ(parsed("\t1 2\t3|", 3), 6);
  EXPECT_EQ(parsed(" 1 2 3 |L 5", 3), 7);
  EXPECT_EQ(parsed(" 1 2", 3), -1);
  EXPECT_EQ(parsed(" 1 2 3 4", 3), -1);
  EXPECT_EQ(parsed(" 1 2 3x", 3), -1);
  EXPECT_EQ(parsed(" 1 2:0 3", 3), -1);
  EXPECT_EQ(parsed(" 1.2.3 2 3", 3), -1);
  EXPECT_EQ(parsed(" . 2 3", 3), -1);
  EXPECT_EQ(parsed("1 2 3", 3), -1);
  for (size_t n = 1; n < 200; ++n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) text += fmt::format(" {}", i * i * i);
    EXPECT_EQ(parsed(text, n), static_cast<int>(text.size()));
    EXPECT_EQ(parsed(text + "|", n), static_cast<int>(text.size()));
    EXPECT_EQ(parsed(text, n + 1), -1);
    EXPECT_EQ(parsed(text, n - 1), -1);
  }
}

// Small whole numbers of a block are read at once, others one by one; words lie across blocks.
template <typename T>
void expect_mixed_rows(uint64_t seed) {
  Philox random(seed);
  for (int round = 0; round < 3000; ++round) {
    const uint32_t special = random.bounded(4) * random.bounded(20);  // one in so many, or none
    std::string text = "|F";
    std::vector<T> expected;
    for (uint32_t n = 1 + random.bounded(150); n > 0; --n) {
      std::string word = std::to_string(random.bounded(random.bounded(2) ? 10 : 1000));
      if (special > 0 && random.bounded(special) == 0) {
        word = fmt::format("{}{}", random.bounded(2) ? "-" : "", random.bounded(100000));
        if (random.bounded(2)) word += fmt::format(".{}", random.bounded(100));
      }
      if (random.bounded(20) == 0 && word[0] != '-') word.insert(0, "00");
      text += random.bounded(9) ? " " : "\t";
      text += word;
      expected.push_back(reference<T>(word));
    }
    const std::string padded = text + "|" + std::string(kDecimalPadding, '\n');
    const char* const end = padded.data() + text.size();
    std::vector<T> values(expected.size());
    ASSERT_EQ(parse_plain_values(padded.data() + 2, end + 1, values.data(), values.size()), end)
        << text;
    ASSERT_EQ(values, expected) << text;
  }
}

TEST(PlainValues, ReadsSmallWholeNumbersAmongOthers) {
  expect_mixed_rows<float>(1);
  expect_mixed_rows<double>(2);
}

}  // namespace
}  // namespace thalweg::data
