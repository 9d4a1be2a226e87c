#include "data/prefetcher.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/philox.h>

namespace thalweg::data {
namespace {

using Strings = Prefetcher<std::string>;

size_t bytes_of(const std::string& item) { return item.size(); }

/// Item i is i times the letter x, after a pause that differs from item to item; `count` of them.
Strings::Make slow_items(int64_t count) {
  return [count](int64_t i) -> std::optional<std::string> {
    if (i >= count) return std::nullopt;
    std::this_thread::sleep_for(
        std::chrono::microseconds(bounded(philox(1, static_cast<uint64_t>(i))[0], 400)));
    return std::string(static_cast<size_t>(i), 'x');
  };
}

TEST(Prefetcher, HandsOutItemsInOrderHoweverLongEachTakes) {
  for (int workers : {1, -1, 2, 5}) {
    Strings prefetcher(
        {.workers = std::abs(workers), .max_bytes = 1000, .caller_helps = workers < 0},
        slow_items(60), bytes_of);
    for (size_t i = 0; i < 60; ++i) {
      const auto item = prefetcher.next();
      ASSERT_TRUE(item.has_value());
      EXPECT_EQ(item->size(), i);
    }
    EXPECT_FALSE(prefetcher.next().has_value());
    EXPECT_FALSE(prefetcher.next().has_value());
  }
}

TEST(Prefetcher, HasNothingWhereThereIsNothing) {
  Strings prefetcher({.workers = 3, .max_bytes = 100}, slow_items(0), bytes_of);
  EXPECT_FALSE(prefetcher.next().has_value());
}

TEST(Prefetcher, ThrowsInPlaceOfTheItemThatFailedAndEnds) {
  const auto make = [](int64_t i) -> std::optional<std::string> {
    if (i == 3 || i == 4) throw std::runtime_error("item " + std::to_string(i));
    return "x";
  };
  Strings prefetcher({.workers = 4, .max_bytes = 100}, make, bytes_of);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(prefetcher.next().has_value());
  try {
    prefetcher.next();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "item 3");
  }
  EXPECT_FALSE(prefetcher.next().has_value());
}

TEST(Prefetcher, HoldsNoMoreThanItsBoundOnceItKnowsTheSizes) {
  std::atomic<int64_t> made = 0;
  const auto make = [&](int64_t i) -> std::optional<std::string> {
    if (i == 50) return std::nullopt;
    ++made;
    return std::string(100, 'x');
  };
  Strings prefetcher({.workers = 3, .max_bytes = 250, .item_bytes = 100}, make, bytes_of);
  for (int64_t taken = 0; taken < 50; ++taken) {
    EXPECT_LE(made.load() - taken, 2);
    ASSERT_TRUE(prefetcher.next().has_value());
  }
}

TEST(Prefetcher, CallerMakesTheItemThatNobodyHasBegun) {
  std::atomic<bool> caller_came = false;
  const auto caller = std::this_thread::get_id();
  // The worker does not end its item before the caller has made another one.
  const auto make = [&](int64_t i) -> std::optional<std::string> {
    if (i == 2) return std::nullopt;
    if (std::this_thread::get_id() == caller) {
      caller_came = true;
      caller_came.notify_all();
    }
    caller_came.wait(false);
    if (i == 1) throw std::runtime_error("item 1");
    return "x";
  };
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "there is one processor";
  Strings prefetcher({.workers = 1, .max_bytes = 100, .caller_helps = true}, make, bytes_of);
  EXPECT_EQ(prefetcher.next(), "x");
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
  EXPECT_FALSE(prefetcher.next().has_value());
}

TEST(Prefetcher, EndsWhileItsWorkersWaitOrWork) {
  for (int round = 0; round < 50; ++round) {
    Strings prefetcher({.workers = 4, .max_bytes = 20}, slow_items(1000), bytes_of);
    for (int i = 0; i < round % 4; ++i) prefetcher.next();
  }
}

}  // namespace
}  // namespace thalweg::data
