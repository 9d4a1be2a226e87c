#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <thalweg/base/clock.h>

namespace thalweg {
namespace {

using namespace std::chrono_literals;

UtcTime at(int64_t seconds) { return UtcTime(std::chrono::seconds(seconds)); }

// From `date -u -d @N`.
TEST(Clock, FormatsUtc) {
  EXPECT_EQ(format_utc(at(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_utc(at(1772384709)), "2026-03-01T17:05:09Z");
  EXPECT_EQ(format_utc(at(951827696)), "2000-02-29T12:34:56Z");
  EXPECT_EQ(format_utc_compact(at(1772384709)), "20260301T170509Z");
}

TEST(Clock, CutsFractionsOfASecond) {
  EXPECT_EQ(format_utc(at(59) + 999ms), "1970-01-01T00:00:59Z");
  EXPECT_EQ(format_utc(at(0) - 1ms), "1969-12-31T23:59:59Z");
}

TEST(Clock, StopwatchCountsSecondsFromItsStart) {
  Stopwatch watch;
  std::this_thread::sleep_for(20ms);
  const double before = watch.seconds();
  EXPECT_GE(before, 0.02);
  watch.restart();
  EXPECT_LT(watch.seconds(), before);
}

}  // namespace
}  // namespace thalweg
