#include <gtest/gtest.h>

#include <thalweg/train/schedule.h>

#include "base/expect_error.h"
#include "train/fixture.h"

namespace thalweg::schedule {
namespace {

constexpr double kBase = 0.5;

// Every step, backwards: a schedule keeps nothing.
void expect_torch(const Schedule& schedule, const std::string& name) {
  const auto expected = train::fixtures("schedules").at(name).get<std::vector<double>>();
  for (size_t step = expected.size(); step-- > 0;)
    EXPECT_NEAR(schedule(kBase, static_cast<int64_t>(step)), expected[step], 1e-12)
        << name << " at step " << step;
}

TEST(Schedules, AgreeWithPyTorch) {
  expect_torch(step({.every = 3, .factor = 0.5}), "step");
  expect_torch(multi_step({.at = {2, 5}, .factor = 0.1}), "multi_step");
  expect_torch(polynomial({.steps = 6, .power = 2}), "polynomial");
  expect_torch(cosine({.steps = 8, .final_rate = 0.01}), "cosine");
  expect_torch(one_cycle({.steps = 20}), "one_cycle");
  expect_torch(
      cosine({.steps = 8, .final_rate = 0.01}).with_warmup({.steps = 4, .start_factor = 0.1}),
      "warmup");
}

TEST(Schedules, StayWhereTheyEnd) {
  EXPECT_EQ(polynomial({.steps = 6, .final_rate = 0.1})(kBase, 1000000), 0.1);
  EXPECT_EQ(cosine({.steps = 8, .final_rate = 0.01})(kBase, 9), 0.01);
  const Schedule cycle = one_cycle({.steps = 20});
  EXPECT_EQ(cycle(kBase, 19), cycle(kBase, 500));
  EXPECT_EQ(constant()(kBase, 7), kBase);
}

TEST(Schedules, WarmUpStartsFromZeroUnlessToldOtherwise) {
  const Schedule schedule = constant().with_warmup({.steps = 4});
  EXPECT_EQ(schedule(kBase, 0), 0);
  EXPECT_EQ(schedule(kBase, 1), kBase / 4);
  EXPECT_EQ(schedule(kBase, 4), kBase);
}

TEST(Schedules, RejectOptionsThatDoNotFit) {
  const auto text = [](auto&& make) { return error_text(ErrorKind::invalid, make); };
  EXPECT_EQ(text([] { step({.every = 0}); }), "schedule: step with every = 0; at least 1");
  EXPECT_EQ(text([] { cosine({.steps = 0}); }), "schedule: cosine with steps = 0; at least 1");
  EXPECT_EQ(text([] {
              multi_step({.at = {5, 2}});
            }),
            "schedule: multi_step at [5, 2]; the steps must rise");
  EXPECT_EQ(text([] { one_cycle({.steps = 3}); }),
            "schedule: one_cycle with steps = 3 and rise = 0.3; needs 1 < rise * steps < steps");
  EXPECT_EQ(text([] { constant()(0.1, -1); }), "schedule: step -1; steps are counted from 0");
}

TEST(Schedules, DescribeThemselves) {
  EXPECT_EQ(cosine({.steps = 9380}).describe(), "cosine(steps=9380, final_rate=0)");
  EXPECT_EQ(multi_step({.at = {10, 20}}).with_warmup({.steps = 5}).describe(),
            "multi_step(at=[10, 20], factor=0.1) after warm-up(steps=5, start_factor=0)");
}

}  // namespace
}  // namespace thalweg::schedule
