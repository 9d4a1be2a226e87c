#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/image_transforms.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/mutate.h"

namespace thalweg::data {
namespace {

using testing::HasSubstr;

// One picture [3, 2, 2], its pixels (10, 20, 30), (40, 50, 60), (70, 80, 90) and (100, 110, 120).
const std::vector<float> kPicture = {10, 40, 70, 100, 20, 50, 80, 110, 30, 60, 90, 120};

std::vector<float> applied(const Transform& step, std::vector<float> values, const Shape& shape,
                           int64_t index) {
  const SampleKey key{index, 0};
  Shape batch = shape;
  batch.insert(0, 1);
  return step->apply(Tensor::of(values, batch), {{&key, 1}, 7}, 0).to_vector<float>();
}

float grey(const std::vector<float>& picture, size_t pixel) {
  return 0.299f * picture[pixel] + 0.587f * picture[4 + pixel] + 0.114f * picture[8 + pixel];
}

TEST(RandomColour, MultipliesAllValuesByOneFactorForBrightness) {
  float low = 2;
  float high = 0;
  for (int64_t i = 0; i < 500; ++i) {
    const auto out = applied(random_colour({.brightness = 0.5}), kPicture, {3, 2, 2}, i);
    const float factor = out[0] / kPicture[0];
    for (size_t v = 0; v < 12; ++v) ASSERT_NEAR(out[v], kPicture[v] * factor, 1e-3);
    low = std::min(low, factor);
    high = std::max(high, factor);
  }
  EXPECT_NEAR(low, 0.5, 0.02);
  EXPECT_NEAR(high, 1.5, 0.02);
}

TEST(RandomColour, KeepsTheMeanGreyForContrastAndEveryGreyForSaturation) {
  for (int64_t i = 0; i < 50; ++i) {
    const auto contrast = applied(random_colour({.contrast = 0.1}), kPicture, {3, 2, 2}, i);
    float mean = 0;
    for (size_t p = 0; p < 4; ++p) mean += grey(contrast, p) - grey(kPicture, p);
    ASSERT_NEAR(mean, 0, 1e-2);
    const auto saturation = applied(random_colour({.saturation = 0.9}), kPicture, {3, 2, 2}, i);
    for (size_t p = 0; p < 4; ++p) ASSERT_NEAR(grey(saturation, p), grey(kPicture, p), 1e-3);
    ASSERT_NE(saturation, kPicture);
  }
}

TEST(RandomColour, StaysWithinTheRange) {
  const auto step = random_colour({.brightness = 1, .contrast = 1, .saturation = 1, .max = 100});
  for (int64_t i = 0; i < 200; ++i)
    for (float value : applied(step, kPicture, {3, 2, 2}, i)) {
      ASSERT_GE(value, 0);
      ASSERT_LE(value, 100);
    }
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { random_colour({.contrast = 2}); }),
              HasSubstr("radius 2 is not between 0 and 1"));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           step->output({"", DType::f32, {4, 2, 2}});
                         }),
              HasSubstr("1 or 3 channels, not 4"));
}

TEST(RandomColour, RoundsPicturesOfBytes) {
  const SampleKey key{3, 0};
  std::vector<uint8_t> bytes(kPicture.begin(), kPicture.end());
  const auto step = random_colour({.brightness = 0.5});
  const auto floats = applied(step, kPicture, {3, 2, 2}, 3);
  const auto out =
      step->apply(Tensor::of(bytes, {1, 3, 2, 2}), {{&key, 1}, 7}, 0).to_vector<uint8_t>();
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(out[i], std::nearbyint(floats[i]));
}

TEST(RandomLighting, AddsOneColourOfThePrincipalComponents) {
  const std::vector<float> grey(300, 128);
  std::vector<double> squares(3);
  constexpr int kRounds = 3000;
  for (int64_t i = 0; i < kRounds; ++i) {
    const auto out = applied(random_lighting(), grey, {3, 10, 10}, i);
    for (size_t c = 0; c < 3; ++c) {
      for (size_t p = 1; p < 100; ++p) ASSERT_EQ(out[c * 100 + p], out[c * 100]);
      squares[c] += std::pow((out[c * 100] - 128) / 255, 2);
    }
  }
  // 0.1 * sqrt(sum of (vector * value)^2) of each channel, by NumPy.
  const double expected[] = {0.0124183, 0.0126377, 0.0127617};
  for (size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(std::sqrt(squares[c] / kRounds), expected[c], 0.0005) << c;
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [] {
                           random_lighting()->output({"", DType::f32, {1, 2, 2}});
                         }),
              HasSubstr("for 3 channels, pictures have 1"));
}

TEST(RandomLighting, TakesItsColoursFromAFile) {
  const TempDir dir;
  const auto write = [&](const std::string& values, const std::string& vectors) {
    return dir.write("pca.xml",
                     "<?xml version=\"1.0\" ?><opencv_storage>\n<EigVal "
                     "type_id=\"opencv-matrix\"><rows>1</rows><data>" +
                         values + "</data></EigVal>\n<EigVec type_id=\"opencv-matrix\"><data>" +
                         vectors + "</data></EigVec></opencv_storage>");
  };
  // All of the light is in the second value, and falls on the channels as 2 to 1 to 0.
  const auto options = lighting_from_file(write("0 10 0", "0 2 0\n0 1 0\n0 0 0"), 0.5);
  const auto out = applied(random_lighting(options), std::vector<float>(12, 128), {3, 2, 2}, 3);
  const float light = out[4] - 128;
  EXPECT_NE(light, 0);
  EXPECT_NEAR(out[0] - 128, 2 * light, 1e-4);
  EXPECT_EQ(out[8], 128);
  EXPECT_LT(std::abs(light), 0.5 * 10 * 5);
  EXPECT_THAT(error_text(ErrorKind::io, [&] { lighting_from_file(write("1 2 3", "1 2")); }),
              HasSubstr("3 eigenvalues and 2 numbers of eigenvectors"));
  const auto read = [&](const std::string& bytes) {
    lighting_from_file(dir.write("f.xml", bytes));
  };
  const std::string good = "<EigVal><data>1 2</data></EigVal><EigVec><data>1 2 3 4</data></EigVec>";
  EXPECT_GT(count_rejected_mutations({good}, 100, 17, read), 30);
}

TEST(RandomCutout, FillsARectangleOfAllChannels) {
  const std::vector<float> ones(2 * 20 * 30, 1);
  std::vector<int> counts;
  for (int64_t i = 0; i < 300; ++i) {
    const auto out = applied(random_cutout({.height = 4, .width = 6}), ones, {2, 20, 30}, i);
    const auto n = std::count(out.begin(), out.begin() + 600, 0.0f);
    ASSERT_EQ(std::count(out.begin() + 600, out.end(), 0.0f), n);
    ASSERT_TRUE(n >= 6 && n <= 24) << n;  // cut off at corners
    counts.push_back(static_cast<int>(n));
  }
  EXPECT_GT(std::ranges::count(counts, 24), 150);
}

TEST(RandomRotate, TurnsAboutTheMiddle) {
  // A dot right of the middle of 41 x 41 goes up when the angle is positive.
  std::vector<float> dot(41 * 41, 0);
  for (size_t y : {19, 20, 21})
    for (size_t x : {34, 35, 36}) dot[y * 41 + x] = 1;
  double widest = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const auto out =
        applied(random_rotate({.degrees = 60, .interpolation = Interpolation::nearest}), dot,
                {1, 41, 41}, i);
    const SampleKey key{i, 0};
    Philox random = Request{{&key, 1}, 7}.random(0, 0);
    const double angle = 60 * (2 * random.uniform64() - 1) * M_PI / 180;
    const double x = 20 + 15 * std::cos(angle);
    const double y = 20 - 15 * std::sin(angle);
    float found = 0;
    for (int64_t dy = -1; dy <= 1; ++dy)
      for (int64_t dx = -1; dx <= 1; ++dx)
        found += out[static_cast<size_t>((std::lround(y) + dy) * 41 + std::lround(x) + dx)];
    ASSERT_GE(found, 6) << angle;
    widest = std::max(widest, std::abs(angle));
  }
  EXPECT_GT(widest, 1.0);
  EXPECT_EQ(applied(random_rotate({.degrees = 0}), kPicture, {3, 2, 2}, 0), kPicture);
}

std::string mean_xml(const std::string& data) {
  return "<?xml version=\"1.0\" ?>\n<opencv_storage>\n  <Channel>2</Channel>\n  <Row>1</Row>\n"
         "  <Col>3</Col>\n  <MeanImg type_id=\"opencv-matrix\">\n    <rows>1</rows>\n"
         "    <cols>6</cols>\n    <dt>f</dt>\n    <data>" +
         data + "</data>\n  </MeanImg>\n</opencv_storage>\n";
}

TEST(MeanFile, IsTakenAwayPixelByPixel) {
  const TempDir dir;
  const auto step = subtract_mean_file(dir.write("mean.xml", mean_xml("1 2 3e0\n 4 5. 6")));
  EXPECT_EQ(applied(step, {10, 10, 10, 20, 20, 20}, {2, 1, 3}, 0),
            std::vector<float>({9, 7, 5, 18, 16, 14}));
  EXPECT_EQ(step->output({"", DType::u8, {2, 1, 3}}).dtype, DType::f32);
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           step->output({"", DType::u8, {3, 2, 2}});
                         }),
              HasSubstr("is [2, 1, 3], samples are [3, 2, 2]"));
}

TEST(MeanFile, SaysWhatIsWrongWithIt) {
  const TempDir dir;
  const auto error = [&](const std::string& xml) {
    return error_text(ErrorKind::io, [&] { subtract_mean_file(dir.write("f.xml", xml)); });
  };
  EXPECT_THAT(error("<a/>"), HasSubstr("<Channel> is not there or not closed"));
  EXPECT_THAT(error(mean_xml("1 2 3")), HasSubstr("expected 6 for [2, 1, 3], found 3"));
  EXPECT_THAT(error(mean_xml("1 2 x 4 5 6")), HasSubstr("value 2: found 'x 4 5 6"));
  const auto read = [&](const std::string& bytes) {
    subtract_mean_file(dir.write("f.xml", bytes));
  };
  EXPECT_GT(count_rejected_mutations({mean_xml("1 2 3 4 5 6")}, 100, 16, read), 30);
}

}  // namespace
}  // namespace thalweg::data
