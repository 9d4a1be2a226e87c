#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/train/progress.h>

namespace thalweg::train {
namespace {

using testing::HasSubstr;
using testing::Not;

ProgressState middle() {
  return {.epoch = 3, .epochs = 10, .step = 469, .steps = 938, .loss = 0.31271, .accuracy = 0.887};
}

const ProgressRates kRates{.samples_per_s = 81234, .seconds_left = 12.4};

TEST(FormatProgress, ShowsEverythingOnAWideTerminal) {
  EXPECT_EQ(format_progress(middle(), kRates, {.width = 110}),
            "epoch 3/10  #################-----------------  469/938  loss 0.3127  acc 0.8870  "
            "81.2 k samples/s  0:12 left");
}

TEST(FormatProgress, StaysBelowTheWidthWhateverItIs) {
  for (int width = 1; width < 160; ++width) {
    const std::string line = format_progress(middle(), kRates, {.width = width});
    EXPECT_LE(line.size(), static_cast<size_t>(std::max(width - 1, 1))) << line;
  }
}

TEST(FormatProgress, DropsSpeedFirstAndLossLast) {
  const std::string eighty = format_progress(middle(), kRates, {.width = 60});
  EXPECT_THAT(eighty, HasSubstr("loss 0.3127"));
  EXPECT_THAT(eighty, HasSubstr("0:12 left"));
  EXPECT_THAT(eighty, Not(HasSubstr("samples/s")));
  const std::string narrow = format_progress(middle(), kRates, {.width = 36});
  EXPECT_EQ(narrow, "epoch 3/10  469/938  loss 0.3127");
}

TEST(FormatProgress, HasNoBarWhereTheLengthIsUnknown) {
  ProgressState state = middle();
  state.steps = 0;
  EXPECT_EQ(format_progress(state, {}, {.width = 100}), "epoch 3/10  469  loss 0.3127  acc 0.8870");
}

TEST(FormatProgress, ColoursAddNoColumns) {
  std::string line = format_progress(middle(), kRates, {.width = 100, .colour = true});
  size_t escaped = 0;
  for (size_t at = line.find('\x1b'); at != line.npos; at = line.find('\x1b', at + 1))
    escaped += line.find('m', at) + 1 - at;
  EXPECT_GT(escaped, 0U);
  EXPECT_EQ(line.size() - escaped, format_progress(middle(), kRates, {.width = 100}).size());
}

TEST(FormatProgress, ShowsANotFiniteLoss) {
  ProgressState state = middle();
  state.loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(format_progress(state, {}, {.width = 100}), HasSubstr("loss nan"));
}

TEST(FormatProgressPlain, NamesEachFigure) {
  EXPECT_EQ(format_progress_plain(middle(), kRates),
            "epoch 3/10  step 469/938  loss 0.3127  accuracy 0.8870  81.2 k samples/s  0:12 left");
}

TEST(FormatProgressPlain, WritesTheTimeLeftAsAClock) {
  const auto left = [](double seconds) {
    const std::string line = format_progress_plain({.loss = 1}, {.seconds_left = seconds});
    return line.substr(line.find("1.0000") + 6);
  };
  EXPECT_EQ(left(0), "  0:00 left");
  EXPECT_EQ(left(59.6), "  1:00 left");
  EXPECT_EQ(left(723), "  12:03 left");
  EXPECT_EQ(left(7509), "  2:05:09 left");
  EXPECT_EQ(left(std::numeric_limits<double>::infinity()), "");
}

TEST(FormatProgressPlain, NamesThePhase) {
  EXPECT_EQ(format_progress_plain(
                {.epoch = 1, .epochs = 2, .step = 4, .steps = 157, .phase = "evaluation"}, {}),
            "epoch 1/2 evaluation  step 4/157");
}

TEST(ProgressMeter, KnowsNothingBeforeTheSecondUpdate) {
  ProgressMeter meter;
  meter.update(5, middle());
  EXPECT_TRUE(std::isnan(meter.rates().samples_per_s));
  EXPECT_TRUE(std::isnan(meter.rates().seconds_left));
}

TEST(ProgressMeter, MeasuresFromTheStepWhereAResumedRunBegan) {
  ProgressMeter meter;
  ProgressState state{.epoch = 6, .epochs = 10, .step = 0, .steps = 100, .samples = 0};
  meter.update(1000, state);
  state.step = 50;
  state.samples = 3200;
  meter.update(1010, state);
  EXPECT_DOUBLE_EQ(meter.rates().samples_per_s, 320);
  EXPECT_DOUBLE_EQ(meter.rates().seconds_left, 450 * 10.0 / 50);
}

TEST(ProgressMeter, ForgetsAnOldSpeedAfterSeconds) {
  ProgressMeter meter;
  ProgressState state{.epochs = 1, .steps = 1000000};
  double now = 0;
  const auto run = [&](double speed, double seconds) {
    for (double end = now + seconds; now < end; now += 0.1) {
      meter.update(now, state);
      state.step += 1;
      state.samples += static_cast<int64_t>(speed * 0.1);
    }
  };
  run(1000, 10);
  EXPECT_NEAR(meter.rates().samples_per_s, 1000, 1);
  run(2000, 20);
  EXPECT_NEAR(meter.rates().samples_per_s, 2000, 5);
}

}  // namespace
}  // namespace thalweg::train
