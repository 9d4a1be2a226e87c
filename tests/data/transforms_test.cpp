#include <cmath>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/loader.h>
#include <thalweg/data/transforms.h>

#include "base/expect_error.h"
#include "data/convert.h"
#include "data/sample_sets.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> floats(const Batch& batch) { return batch.data.to_vector<float>(); }

/// One sample of shape `shape`: the numbers 0, 1, 2, ... as u8.
Dataset counting(const Shape& shape, int64_t samples = 1) {
  Shape whole = shape;
  whole.insert(0, samples);
  std::vector<uint8_t> values(static_cast<size_t>(element_count(whole)));
  std::iota(values.begin(), values.end(), uint8_t{0});
  return ArrayDataset(Tensor::of(values, whole));
}

TEST(Cast, PixelsDividedBy255AreTheNearestFloats) {
  const Dataset set = counting({256}).transform({cast(DType::f32, 1 / 255.0)});
  const std::vector<float> values = floats(set.gather({0}));
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(values[static_cast<size_t>(i)], static_cast<float>(i) / 255.0f) << i;
}

// What NumPy's astype gives, but for values out of range, which it leaves undefined.
TEST(Cast, ConvertsBetweenAllDtypes) {
  for (int from = 0; from < kDTypes; ++from) {
    for (int to = 0; to < kDTypes; ++to) {
      const Tensor ones = Tensor::full({2, 3}, 1, {.dtype = static_cast<DType>(from)});
      const Dataset set = ArrayDataset(ones).transform({cast(static_cast<DType>(to))});
      const Tensor out = set.gather({0, 1}).data;
      ASSERT_EQ(out.dtype(), static_cast<DType>(to));
      visit_dtype(out.dtype(), [&](auto zero) {
        using T = decltype(zero);
        for (int i = 0; i < 6; ++i)
          EXPECT_EQ(static_cast<double>(out.impl()->template as<T>()[i]), 1.0) << from << to;
      });
    }
  }
  const ArrayDataset large(Tensor::of<int64_t>({9007199254740993}));
  const Dataset same = large.transform({cast(DType::i64)});
  EXPECT_EQ(same[0].data.item<int64_t>(), 9007199254740993);
  const ArrayDataset wild(Tensor::of<float>({-1.9f, 1.9f, 300.0f, -5.0f, NAN, INFINITY}, {1, 6}));
  EXPECT_THAT(wild.transform({cast(DType::u8)})[0].data.to_vector<uint8_t>(),
              ElementsAre(0, 1, 255, 0, 0, 255));
}

TEST(Normalize, SubtractsTheMeanAndDividesPerChannel) {
  const std::vector<Transform> steps = {cast(DType::f32, 1 / 255.0),
                                        normalize({.mean = {0.5, 0.25}, .std = {0.5, 0.1}})};
  const Dataset set = counting({2, 3}).transform(steps);
  const std::vector<float> values = floats(set.gather({0}));
  for (int i = 0; i < 6; ++i) {
    const double expected = i < 3 ? (i / 255.0 - 0.5) / 0.5 : (i / 255.0 - 0.25) / 0.1;
    EXPECT_NEAR(values[static_cast<size_t>(i)], expected, 1e-6);
  }
  // The same where it cannot be made part of the gather.
  const auto same = each([](const Tensor& sample, Philox&) { return sample; });
  const Dataset apart = counting({2, 3}).transform({same, steps[0], steps[1]});
  const std::vector<float> by_steps = floats(apart.gather({0}));
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(by_steps[i], values[i], 1e-6);
}

TEST(Normalize, RejectsWhatDoesNotFit) {
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [] {
                           counting({3, 4}).transform({normalize({.mean = {1, 2}})});
                         }),
              HasSubstr("2 values do not fit samples of shape [3, 4]"));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [] {
                           normalize({.std = {1, 0}});
                         }),
              HasSubstr("standard deviation 1 is 0"));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [] {
                           normalize({.mean = {1, 2}, .std = {1, 1, 1}});
                         }),
              HasSubstr("2 means and 3 standard deviations"));
}

TEST(Conversion, IsMadePartOfTheGatherThroughViews) {
  const Dataset set = concat({counting({4}, 3), counting({4}, 2).take(1)})
                          .slice(1, 4)
                          .transform({cast(DType::f32), normalize({.mean = {1}, .std = {2}})});
  EXPECT_EQ(floats(set.gather({0})), std::vector<float>({1.5f, 2.0f, 2.5f, 3.0f}));
  EXPECT_EQ(floats(set.gather({2})), std::vector<float>({-0.5f, 0.0f, 0.5f, 1.0f}));
  const Dataset rounded = counting({4}, 3).transform({cast(DType::u8, 0.5), cast(DType::f32, 2)});
  EXPECT_EQ(floats(rounded.gather({0})), std::vector<float>({0, 0, 2, 2}))
      << "a conversion to integers cuts, and the next must see that";
}

TEST(Conversion, VectorLoopsEqualThePlainOneAtEverySize) {
  for (size_t n = 0; n < 70; ++n) {
    std::vector<uint8_t> bytes(n);
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) {
      bytes[i] = static_cast<uint8_t>(37 * i);
      values[i] = 0.37f * static_cast<float>(i) - 5;
    }
    std::vector<float> a(n + 1, -7), b(n + 1, -7);
    find_convert(DType::u8, DType::f32)(bytes.data(), a.data(), n, 0.25, -1);
    find_convert(DType::f32, DType::f32)(values.data(), b.data(), n, 0.25, -1);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_FLOAT_EQ(a[i], 0.25f * bytes[i] - 1);
      EXPECT_NEAR(b[i], 0.25 * values[i] - 1, 1e-6);
    }
    EXPECT_EQ(a[n], -7);
    EXPECT_EQ(b[n], -7);
  }
}

TEST(Flatten, MakesSamplesOneDimensional) {
  const Dataset set = counting({1, 2, 3}, 2).transform({flatten()});
  EXPECT_EQ(set.fields()[0].shape, Shape({6}));
  EXPECT_EQ(set.gather({1}).data.to_vector<uint8_t>(), std::vector<uint8_t>({6, 7, 8, 9, 10, 11}));
}

TEST(OneHot, PutsAOneAtTheLabel) {
  const Dataset set = numbered(4).transform("label", {one_hot(3)});
  EXPECT_THAT(set.gather({2, 0}).label.to_vector<float>(), ElementsAre(0, 0, 1, 1, 0, 0));
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         set.gather({1, 3});
                       }),
            "one_hot: label 3 is not in [0, 3); sample 3");
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { numbered(4).transform({one_hot(3)}); }),
              HasSubstr("field 'data' is f32"));
}

TEST(RandomFlip, MirrorsTheAxisAsOftenAsAsked) {
  const auto flipped = [](RandomFlipOptions options, const Shape& shape) {
    return counting(shape).transform({random_flip(options)})[0].data.to_vector<uint8_t>();
  };
  EXPECT_THAT(flipped({.probability = 1}, {2, 3}), ElementsAre(2, 1, 0, 5, 4, 3));
  EXPECT_THAT(flipped({.axis = -2, .probability = 1}, {2, 3}), ElementsAre(3, 4, 5, 0, 1, 2));
  EXPECT_THAT(flipped({.axis = 0, .probability = 1}, {2, 1, 2}), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(flipped({.probability = 0}, {2, 3}), ElementsAre(0, 1, 2, 3, 4, 5));

  const Dataset set = numbered(10000).transform({random_flip()});
  int64_t count = 0;
  for (auto& batch : DataLoader(set, {.batch_size = 100, .seed = 8})) {
    const float* values = batch.data.data<float>();
    for (int64_t i = 0; i < batch.size; ++i) count += values[2 * i] < values[2 * i + 1];
  }
  EXPECT_NEAR(static_cast<double>(count), 5000, 200);
}

TEST(RandomFlip, TwoFlipsOfOneSampleAreIndependent) {
  const Dataset once = numbered(1000).transform({random_flip()});
  const Dataset twice = once.transform({random_flip()});
  int64_t changed = 0;
  for (auto& batch : DataLoader(twice, {.batch_size = 100, .seed = 8})) {
    const float* values = batch.data.data<float>();
    for (int64_t i = 0; i < batch.size; ++i) changed += values[2 * i] < values[2 * i + 1];
  }
  EXPECT_NEAR(static_cast<double>(changed), 500, 80);
}

TEST(RandomCrop, TakesAWindowOfThePaddedPicture) {
  const Dataset set = counting({3, 3}, 5).transform(
      {random_crop({.height = 2, .width = 4, .padding = 1, .fill = 99})});
  EXPECT_EQ(set.fields()[0].shape, Shape({2, 4}));
  std::set<std::vector<uint8_t>> windows;
  DataLoader loader(set.take(1), {.seed = 4});
  for (int epoch = 0; epoch < 300; ++epoch)
    for (auto& batch : loader) windows.insert(batch.data.to_vector<uint8_t>());
  std::set<std::vector<uint8_t>> expected;
  const uint8_t padded[5][5] = {{99, 99, 99, 99, 99},
                                {99, 0, 1, 2, 99},
                                {99, 3, 4, 5, 99},
                                {99, 6, 7, 8, 99},
                                {99, 99, 99, 99, 99}};
  for (int top = 0; top <= 3; ++top) {
    for (int left = 0; left <= 1; ++left) {
      std::vector<uint8_t> window;
      for (int y = top; y < top + 2; ++y)
        for (int x = left; x < left + 4; ++x) window.push_back(padded[y][x]);
      expected.insert(window);
    }
  }
  EXPECT_EQ(windows, expected);
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [] {
                           counting({3, 3}).transform({random_crop({.height = 4})});
                         }),
              HasSubstr("a window of 4 x 3 is larger than samples of [3, 3] padded by 0"));
}

TEST(RandomCrop, FieldsNamedTogetherGetTheSameWindow) {
  const Tensor picture = counting({6, 6}, 4).gather({0, 1, 2, 3}).data;
  const ArrayDataset pairs({{"image", picture}, {"mask", picture}});
  const Dataset set = pairs.transform({"image", "mask"}, {random_crop({.height = 3, .width = 3})});
  for (auto& batch : DataLoader(set, {.batch_size = 4, .seed = 2}))
    EXPECT_EQ(batch["image"].to_vector<uint8_t>(), batch["mask"].to_vector<uint8_t>());
}

TEST(Each, CallsAFunctionPerSample) {
  const Dataset set = numbered(3).transform({each([](const Tensor& sample, Philox&) {
    return Tensor::of<double>({10.0 * sample.data<float>()[0]});
  })});
  EXPECT_EQ(set.fields()[0].dtype, DType::f64);
  EXPECT_THAT(set.gather({2, 1}).data.to_vector<double>(), ElementsAre(20, 10));
  EXPECT_EQ(set.gather(std::vector<int64_t>{}).data.shape(), Shape({0, 1}));
}

TEST(Compose, AppliesItsStepsInOrder) {
  const Transform both = compose({cast(DType::f32, 2), normalize({.mean = {4}}), flatten()});
  const Dataset set = counting({1, 3}).transform({both});
  EXPECT_EQ(set.fields()[0].shape, Shape({3}));
  EXPECT_THAT(floats(set.gather({0})), ElementsAre(-4, -2, 0));
}

}  // namespace
}  // namespace thalweg::data
