#include "data/image/resample.h"

#include <cstring>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/array_files.h>
#include <thalweg/data/image.h>
#include <thalweg/data/image_files.h>
#include <thalweg/data/minibatch_source.h>
#include <thalweg/data/npy.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/base64.h"
#include "data/formats/mutate.h"
#include "data/image/decode.h"
#include "data/image/pictures.h"

namespace thalweg::data {
namespace {

using testing::HasSubstr;

Tensor ramps() { return decode_image(as_bytes(*decode_base64(kRamps))); }

Pixels pixels_of(const Tensor& planes) {
  Pixels pixels;
  pixels.resize(planes.size(1), planes.size(2), static_cast<int>(planes.size(0)));
  const auto values = planes.to_vector<uint8_t>();
  const size_t n = values.size() / 3;
  for (size_t i = 0; i < values.size(); ++i) pixels.values[(i % n) * 3 + i / n] = values[i];
  return pixels;
}

std::vector<uint8_t> resampled(const Tensor& planes, const Resampling& part) {
  std::vector<uint8_t> out(static_cast<size_t>(3 * part.out_height * part.out_width));
  resample_pixels(pixels_of(planes), part, false,
                  {out.data(), part.out_width, part.out_height * part.out_width});
  return out;
}

struct Expected {
  Resampling part;
  std::vector<int> values;  // every so many'th of the result
};

// Of Pillow 13's resize, which rounds to u8 between rows and columns: it may differ by 1.
TEST(Resample, GivesThePixelsThatPillowGives) {
  const Resampling small{0, 0, 40, 56, 7, 10};
  const Resampling square{0, 0, 40, 56, 16, 16};  // no centre lies between two pixels
  const Resampling large{0, 0, 40, 56, 60, 80};
  const Resampling part{9, 5, 20, 30, 12, 12};
  const auto with = [](Resampling r, Interpolation interpolation) {
    r.interpolation = interpolation;
    return r;
  };
  const Expected cases[] = {
      {with(square, Interpolation::nearest),
       {4, 2, 6, 4, 1, 8, 3, 6, 4, 36, 65, 96, 127, 154, 186, 215, 4, 20, 35, 49, 66, 79, 94, 111}},
      {with(small, Interpolation::linear),
       {9,   188, 143, 100, 54, 12, 190, 142, 101, 17,  49,  48,  84, 117,
        151, 187, 186, 217, 60, 52, 46,  136, 131, 125, 120, 114, 203}},
      {with(small, Interpolation::cubic),
       {8,   188, 142, 100, 54, 10, 190, 142, 101, 15,  48,  48,  84, 117,
        151, 188, 187, 219, 59, 52, 45,  136, 131, 125, 120, 115, 205}},
      {with(large, Interpolation::linear), {2,   112, 5,   113, 0, 114, 3,  114, 0,  28,  57, 87,
                                            118, 146, 179, 206, 1, 72,  30, 102, 61, 130, 90, 160}},
      {with(large, Interpolation::cubic), {2,   111, 5,   113, 0, 114, 3,  114, 0,  28,  57, 87,
                                           118, 146, 179, 206, 1, 72,  30, 102, 61, 130, 90, 160}},
      {with(part, Interpolation::linear), {25,  85,  23,  82,  23, 79, 25, 83, 56, 66,  86, 97,
                                           116, 128, 146, 156, 40, 74, 54, 90, 72, 106, 85, 118}},
      {with(part, Interpolation::cubic), {24,  84,  22,  82,  22, 79, 24, 83, 55, 66,  87, 97,
                                          117, 128, 146, 156, 39, 74, 54, 90, 71, 106, 85, 118}}};
  for (const Expected& expected : cases) {
    const auto values = resampled(ramps(), expected.part);
    const size_t step = values.size() / 24;
    for (size_t i = 0; i < expected.values.size(); ++i) {
      EXPECT_NEAR(values[i * step], expected.values[i], 1)
          << static_cast<int>(expected.part.interpolation) << " to " << expected.part.out_width
          << " at " << i * step;
    }
  }
}

// Likewise, of a picture in which neighbours differ widely; grey [9, 8].
TEST(Resample, TakesNeighboursWithTheWeightsThatPillowHas) {
  std::vector<uint8_t> picture;
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 8; ++x)
      picture.push_back(static_cast<uint8_t>(y * y * 37 + x * 91 + x * y * 13));
  const Expected cases[] = {{{0, 0, 9, 8, 4, 5, Interpolation::cubic},
                             {60,  157, 120, 126, 154, 118, 144, 171, 134, 153,
                              125, 157, 119, 110, 134, 75,  138, 127, 123, 111}},
                            {{0, 0, 9, 8, 13, 11, Interpolation::cubic},
                             {0,   131, 72,  110, 155, 111, 139, 125, 211, 229, 169, 72,
                              109, 105, 126, 131, 71,  127, 102, 44,  40,  128, 70,  46}},
                            {{0, 0, 9, 8, 4, 5, Interpolation::lanczos},
                             {58,  155, 123, 127, 151, 115, 151, 176, 124, 160,
                              130, 160, 119, 108, 127, 75,  136, 125, 128, 110}},
                            {{0, 0, 9, 8, 13, 11, Interpolation::lanczos},
                             {1,  144, 62,  108, 161, 96,  144, 123, 218, 246, 184, 66,
                              95, 98,  118, 130, 56,  119, 104, 21,  34,  125, 80,  31}}};
  for (const Expected& expected : cases) {
    const Resampling& part = expected.part;
    std::vector<uint8_t> out(static_cast<size_t>(part.out_height * part.out_width));
    resample_planes({picture.data(), DType::u8, 1, 9, 8}, part,
                    {out.data(), part.out_width, part.out_height * part.out_width});
    const size_t step = part.out_height == 4 ? 1 : 6;
    ASSERT_EQ((out.size() + step - 1) / step, expected.values.size());
    for (size_t i = 0; i < expected.values.size(); ++i)
      EXPECT_NEAR(out[i * step], expected.values[i], 1)
          << static_cast<int>(part.interpolation) << " to " << part.out_width << " at " << i;
  }
}

TEST(Resample, GivesThePartItselfAtItsOwnSize) {
  const Tensor picture = ramps();
  for (Interpolation interpolation : {Interpolation::nearest, Interpolation::linear,
                                      Interpolation::cubic, Interpolation::lanczos}) {
    const auto out = resampled(picture, {3, 7, 11, 13, 11, 13, interpolation});
    const auto all = picture.to_vector<uint8_t>();
    for (size_t c = 0; c < 3; ++c)
      for (size_t y = 0; y < 11; ++y)
        for (size_t x = 0; x < 13; ++x)
          ASSERT_EQ(out[(c * 11 + y) * 13 + x], all[(c * 40 + y + 3) * 56 + x + 7]);
  }
}

TEST(Resample, WorksOnPlanesAsOnPixels) {
  const Tensor picture = ramps();
  for (const bool mirrored : {false, true}) {
    const Resampling part{2.5, 1.25, 30, 40.5, 17, 19, Interpolation::linear, mirrored};
    const auto expected = resampled(picture, part);
    std::vector<uint8_t> out(expected.size());
    resample_planes({picture.impl()->data, DType::u8, 3, 40, 56}, part, {out.data(), 19, 17 * 19});
    EXPECT_EQ(out, expected);
  }
}

TEST(Resample, MirrorsWhatItMakes) {
  const Resampling part{0, 0, 40, 56, 9, 10, Interpolation::cubic};
  Resampling mirrored = part;
  mirrored.mirrored = true;
  const auto a = resampled(ramps(), part);
  const auto b = resampled(ramps(), mirrored);
  for (size_t row = 0; row < 27; ++row)
    for (size_t x = 0; x < 10; ++x) ASSERT_EQ(b[row * 10 + x], a[row * 10 + 9 - x]);
}

Request one_sample(const SampleKey& key, uint64_t seed = 3) { return {{&key, 1}, seed}; }

Tensor applied(const Transform& step, const Tensor& picture, const SampleKey& key) {
  Tensor batch = Tensor::empty({1, picture.size(0), picture.size(1), picture.size(2)},
                               {.dtype = picture.dtype()});
  std::memcpy(batch.impl()->data, picture.impl()->data,
              static_cast<size_t>(picture.size()) * item_size(picture.dtype()));
  return step->apply(batch, one_sample(key), 0);
}

TEST(ImageTransforms, CropTheMiddle) {
  const Tensor picture = Tensor::of<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1, 3, 4});
  EXPECT_EQ(applied(center_crop({.height = 1, .width = 2}), picture, {}).to_vector<uint8_t>(),
            std::vector<uint8_t>({6, 7}));
  EXPECT_EQ(applied(center_crop({.side = 0.67}), picture, {}).to_vector<uint8_t>(),
            std::vector<uint8_t>({2, 3, 6, 7}));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] { applied(center_crop({.height = 4, .width = 4}), picture, {}); }),
              HasSubstr("a part of 4 x 4 is larger than the picture of 4 x 3"));
}

TEST(ImageTransforms, GiveTenViews) {
  std::vector<float> picture(2 * 3 * 4);  // [2, 3, 4]
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i);
  const SampleKey key{0, 0};
  const Tensor views =
      ten_views({2, 2})->apply(Tensor::of(picture, {1, 2, 3, 4}), {{&key, 1}, 7}, 0);
  EXPECT_EQ(views.shape(), Shape({1, 10, 2, 2, 2}));
  const auto values = views.to_vector<float>();
  const auto view = [&](size_t i) {
    return std::vector<float>(values.begin() + static_cast<ptrdiff_t>(8 * i),
                              values.begin() + static_cast<ptrdiff_t>(8 * i + 8));
  };
  EXPECT_EQ(view(0), std::vector<float>({0, 1, 4, 5, 12, 13, 16, 17}));
  EXPECT_EQ(view(1), std::vector<float>({2, 3, 6, 7, 14, 15, 18, 19}));
  EXPECT_EQ(view(2), std::vector<float>({4, 5, 8, 9, 16, 17, 20, 21}));
  EXPECT_EQ(view(3), std::vector<float>({6, 7, 10, 11, 18, 19, 22, 23}));
  EXPECT_EQ(view(4), std::vector<float>({1, 2, 5, 6, 13, 14, 17, 18}));
  EXPECT_EQ(view(5), std::vector<float>({1, 0, 5, 4, 13, 12, 17, 16}));
  EXPECT_EQ(view(9), std::vector<float>({2, 1, 6, 5, 14, 13, 18, 17}));
  EXPECT_EQ(ten_views({2, 2})->output({"", DType::u8, {2, 3, 4}}).shape, Shape({10, 2, 2, 2}));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [] {
                           ten_views({4, 4})->output({"", DType::u8, {2, 3, 4}});
                         }),
              HasSubstr("a view of 4 x 4 is larger than the picture of 4 x 3"));
}

TEST(ImageTransforms, ResizeByStretchingCuttingOrPadding) {
  const Tensor picture = Tensor::of<float>({1, 2, 3, 4, 1, 2, 3, 4}, {1, 2, 4});
  const auto resized = [&](ResizeMode mode) {
    return applied(resize({.height = 2,
                           .width = 2,
                           .mode = mode,
                           .interpolation = Interpolation::nearest,
                           .fill = -1}),
                   picture, {})
        .to_vector<float>();
  };
  EXPECT_EQ(resized(ResizeMode::fill), std::vector<float>({2, 4, 2, 4}));
  EXPECT_EQ(resized(ResizeMode::crop), std::vector<float>({2, 3, 2, 3}));
  EXPECT_EQ(resized(ResizeMode::pad), std::vector<float>({2, 4, -1, -1}));
}

TEST(ImageTransforms, DrawPartsOfTheAreasAndAspectsThatAreAllowed) {
  const auto step = std::dynamic_pointer_cast<const WindowStep>(
      random_resized_crop({.height = 8, .width = 8, .min_area = 0.2, .max_area = 0.5}));
  double smallest = 1;
  double largest = 0;
  std::set<std::pair<int64_t, int64_t>> places;
  for (int64_t i = 0; i < 2000; ++i) {
    const SampleKey key{i, 0};
    Philox random = one_sample(key).random(0, 0);
    const PixelBox part = step->window(300, 400, random).part;
    const double area = static_cast<double>(part.height * part.width) / 120000;
    const double aspect = static_cast<double>(part.width) / static_cast<double>(part.height);
    ASSERT_GT(aspect, 0.74);
    ASSERT_LT(aspect, 1.35);
    ASSERT_GE(part.top, 0);
    ASSERT_LE(part.top + part.height, 300);
    ASSERT_LE(part.left + part.width, 400);
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    places.emplace(part.top, part.left);
  }
  EXPECT_NEAR(smallest, 0.2, 0.01);
  EXPECT_NEAR(largest, 0.5, 0.01);
  EXPECT_GT(places.size(), 1900u);
}

TEST(ImageTransforms, TakeTheMiddleWhenNoPartFits) {
  const auto step = std::dynamic_pointer_cast<const WindowStep>(
      random_resized_crop({.height = 8, .width = 8, .min_area = 1}));
  Philox random(1);
  EXPECT_EQ(step->window(100, 1000, random).part, (PixelBox{0, 433, 100, 133}));
}

// The picture in a folder, read by a source with these steps.
Tensor read_by_source(const std::string& folder, const std::vector<Transform>& steps) {
  MinibatchSource source({ImageFolderDeserializer(folder)},
                         {.seed = 5, .transforms = {{{"image"}, steps}}});
  return source.next_minibatch(1)["image"];
}

// A step that hides what kind the next one is, so that nothing is absorbed.
Transform identity() {
  return each([](const Tensor& sample, Philox&) { return sample; });
}

TEST(ImageTransforms, AreTheSameWhenTheyArePartOfReading) {
  const TempDir dir;
  dir.write("c/a.png", *decode_base64(kPngRgb));
  const std::vector<Transform> steps = {
      random_resized_crop({.height = 4, .width = 3, .min_area = 0.3}), random_flip()};
  MinibatchSource source({ImageFolderDeserializer(dir.path())},
                         {.seed = 5, .max_sweeps = 20, .transforms = {{{"image"}, steps}}});
  EXPECT_EQ(source.streams()[0].shape, Shape({3, 4, 3}));
  const Tensor picture = decode_image(as_bytes(*decode_base64(kPngRgb)));
  std::set<std::vector<uint8_t>> different;
  for (int64_t sweep = 0; sweep < 20; ++sweep) {
    const Minibatch minibatch = source.next_minibatch(1);
    const SampleKey key{0, sweep};
    // As the source's own steps would draw: group 0 of its transforms.
    Request request{{&key, 1}, derive_seed(derive_seed(5, 1), 0)};
    Tensor expected = Tensor::empty({1, 3, 6, 5}, {.dtype = DType::u8});
    std::memcpy(expected.impl()->data, picture.impl()->data, 90);
    for (size_t i = 0; i < 2; ++i) expected = steps[i]->apply(expected, request, i);
    ASSERT_EQ(minibatch["image"].to_vector<uint8_t>(), expected.to_vector<uint8_t>());
    different.insert(expected.to_vector<uint8_t>());
  }
  EXPECT_GT(different.size(), 10u);
}

TEST(ImageTransforms, DecodeAJpegToAboutThePixelsOfTheWhole) {
  const TempDir dir;
  for (int orientation : {1, 3, 6, 8}) {
    std::string file = *decode_base64(kRampsProgressive);
    // An Exif segment of one entry.
    file.insert(2, from_hex("ffe1 0022 457869660000 4d4d002a00000008 0001 0112 0003 00000001 00") +
                       static_cast<char>(orientation) + std::string(6, '\0'));
    dir.write("c/a.jpg", file);
    const auto whole =
        read_by_source(dir.path(), {identity(), resize({.height = 10, .width = 10})});
    const auto part = read_by_source(dir.path(), {resize({.height = 10, .width = 10})});
    const auto a = whole.to_vector<uint8_t>();
    const auto b = part.to_vector<uint8_t>();
    ASSERT_EQ(a.size(), b.size());
    double error = 0;
    for (size_t i = 0; i < a.size(); ++i) error += std::abs(a[i] - b[i]);
    EXPECT_LT(error / static_cast<double>(a.size()), 6) << orientation;
  }
}

// CNTK #2309, #2636: the same part of picture and mask, also if one is not decoded in parts.
TEST(ImageTransforms, TakeTheSamePartOfAPictureAndItsMask) {
  const TempDir dir;
  dir.write("a.png", *decode_base64(kPngRgb));
  const std::string map = dir.write("map.txt", "a.png\t0\na.png\t1\n");
  const auto values = decode_image(as_bytes(*decode_base64(kPngRgb))).to_vector<uint8_t>();
  std::vector<uint8_t> twice = values;
  twice.insert(twice.end(), values.begin(), values.end());
  write_npy(dir / "masks.npy", Tensor::of(twice, {2, 3, 6, 5}));
  const std::vector<Transform> steps = {
      random_resized_crop({.height = 2, .width = 2, .min_area = 0.3}), random_flip()};
  const DeserializerHandle masks[] = {
      ImageDeserializer(map, {.image = "mask", .label = "other"}),
      NPYDeserializer(std::vector<ArrayFile>{{"mask", dir / "masks.npy"}})};
  for (const DeserializerHandle& mask : masks) {
    MinibatchSource source(
        {ImageDeserializer(map), mask},
        {.seed = 1, .max_sweeps = 5, .transforms = {{{"image", "mask"}, steps}}});
    for (int i = 0; i < 5; ++i) {
      const Minibatch minibatch = source.next_minibatch(2);
      EXPECT_EQ(minibatch["image"].shape(), Shape({2, 3, 2, 2}));
      EXPECT_EQ(minibatch["image"].to_vector<uint8_t>(), minibatch["mask"].to_vector<uint8_t>());
    }
  }
}

}  // namespace
}  // namespace thalweg::data
