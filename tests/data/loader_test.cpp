#include <algorithm>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/random.h>
#include <thalweg/data/loader.h>

#include "base/expect_error.h"
#include "data/sample_sets.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Batches = std::vector<std::vector<int64_t>>;

Batches pass_of(DataLoader& loader) {
  Batches batches;
  for (auto& batch : loader) {
    EXPECT_EQ(batch.size, batch.data.size(0));
    batches.push_back(labels_of(batch));
  }
  return batches;
}

std::vector<int64_t> flat(const Batches& batches) {
  std::vector<int64_t> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

std::vector<size_t> sizes(const Batches& batches) {
  std::vector<size_t> result;
  for (const auto& batch : batches) result.push_back(batch.size());
  return result;
}

TEST(DataLoader, GoesInOrderUnlessToldToShuffle) {
  DataLoader loader(numbered(5), {.batch_size = 2});
  EXPECT_THAT(pass_of(loader), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(DataLoader, ShufflesEachEpochAnewAndVisitsEverySampleOnce) {
  DataLoader loader(numbered(1000), {.batch_size = 7, .shuffle = true, .seed = 1});
  const std::vector<int64_t> first = flat(pass_of(loader));
  const std::vector<int64_t> second = flat(pass_of(loader));
  EXPECT_NE(first, second);
  EXPECT_EQ(loader.epoch(), 2);
  for (std::vector<int64_t> order : {first, second}) {
    EXPECT_FALSE(std::ranges::is_sorted(order));
    std::ranges::sort(order);
    EXPECT_EQ(order, labels_of(numbered(1000)));
  }
}

TEST(DataLoader, OrderIsAFunctionOfSeedAndEpoch) {
  DataLoader a(numbered(50), {.shuffle = true, .seed = 5});
  pass_of(a);
  const Batches epoch_one = pass_of(a);
  DataLoader b(numbered(50), {.shuffle = true, .seed = 5, .epoch = 1});
  EXPECT_EQ(pass_of(b), epoch_one);
  a.set_epoch(1);
  EXPECT_EQ(pass_of(a), epoch_one);
  DataLoader c(numbered(50), {.shuffle = true, .seed = 6, .epoch = 1});
  EXPECT_NE(pass_of(c), epoch_one);
}

TEST(DataLoader, WithoutASeedFollowsTheDefaultRandomState) {
  const auto one_pass = [] {
    DataLoader loader(numbered(50), {.shuffle = true});
    return pass_of(loader);
  };
  manual_seed(3);
  const Batches first = one_pass();
  const Batches second = one_pass();
  EXPECT_NE(first, second) << "a loader made anew in each epoch must not repeat its order";
  manual_seed(3);
  EXPECT_EQ(one_pass(), first);
}

// BirkhoffG/jax-dataloader #33: the length must be that of an actual pass.
TEST(DataLoader, LengthIsThatOfAnActualPass) {
  struct Case {
    int64_t samples, batch;
    size_t keep, discard;
  };
  const Case cases[] = {{100, 100, 1, 1}, {10, 3, 4, 3}, {9, 3, 3, 3},
                        {2, 5, 1, 0},     {1, 1, 1, 1},  {0, 3, 0, 0}};
  for (int workers : {0, 1, 2, 4}) {
    for (const Case& c : cases) {
      DataLoader keep(numbered(c.samples), {.batch_size = c.batch, .workers = workers});
      EXPECT_EQ(keep.size(), c.keep);
      EXPECT_EQ(pass_of(keep).size(), c.keep);
      DataLoader discard(
          numbered(c.samples),
          {.batch_size = c.batch, .workers = workers, .last_batch = LastBatch::discard});
      EXPECT_EQ(discard.size(), c.discard);
      EXPECT_EQ(pass_of(discard).size(), c.discard);
    }
  }
  DataLoader keep(numbered(10), {.batch_size = 3});
  EXPECT_THAT(sizes(pass_of(keep)), ElementsAre(3, 3, 3, 1));
}

TEST(DataLoader, RollsOverIntoTheNextPass) {
  for (int workers : {0, 2}) {
    DataLoader loader(numbered(10), {.batch_size = 3,
                                     .shuffle = true,
                                     .workers = workers,
                                     .last_batch = LastBatch::rollover,
                                     .seed = 2});
    const size_t expected[] = {3, 3, 4, 3};
    const int64_t carried[] = {1, 2, 0, 1};
    std::vector<int64_t> all;
    for (int epoch = 0; epoch < 4; ++epoch) {
      EXPECT_EQ(loader.size(), expected[epoch]);
      const Batches batches = pass_of(loader);
      EXPECT_EQ(batches.size(), expected[epoch]);
      EXPECT_EQ(loader.state().carried, carried[epoch]);
      for (int64_t label : flat(batches)) all.push_back(label);
    }
    // Epochs follow each other without a gap: each ten labels in a row are a whole epoch.
    for (int epoch = 0; epoch < 3; ++epoch) {
      const std::set<int64_t> seen(all.begin() + epoch * 10, all.begin() + epoch * 10 + 10);
      EXPECT_EQ(seen.size(), 10u);
    }
  }
}

TEST(DataLoader, CarriesOverSeveralPassesWhenABatchIsLargerThanTheSet) {
  DataLoader loader(numbered(2), {.batch_size = 5, .last_batch = LastBatch::rollover});
  EXPECT_EQ(pass_of(loader).size(), 0u);
  EXPECT_EQ(pass_of(loader).size(), 0u);
  EXPECT_EQ(loader.state().carried, 4);
  EXPECT_THAT(pass_of(loader), ElementsAre(ElementsAre(0, 1, 0, 1, 0)));
  DataLoader later(numbered(2), {.batch_size = 5, .last_batch = LastBatch::rollover, .epoch = 2});
  EXPECT_THAT(pass_of(later), ElementsAre(ElementsAre(0, 1, 0, 1, 0)));
}

TEST(DataLoader, RanksTogetherTakeWhatOneWouldTake) {
  for (int64_t world : {1, 2, 3, 7}) {
    std::vector<Batches> ranks;
    for (int64_t rank = 0; rank < world; ++rank) {
      DataLoader loader(
          numbered(100),
          {.batch_size = 4, .shuffle = true, .seed = 9, .rank = rank, .world_size = world});
      const int64_t length = loader.size();
      ranks.push_back(pass_of(loader));
      EXPECT_EQ(ranks.back().size(), length);
    }
    DataLoader whole(numbered(100), {.batch_size = 4 * world, .shuffle = true, .seed = 9});
    const Batches together = pass_of(whole);
    for (size_t b = 0; b < together.size(); ++b) {
      std::vector<int64_t> expected = together[b];
      std::vector<int64_t> found;
      for (const Batches& batches : ranks)
        if (b < batches.size()) found.insert(found.end(), batches[b].begin(), batches[b].end());
      std::ranges::sort(expected);
      std::ranges::sort(found);
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(DataLoader, ResumesAtEveryBatch) {
  for (LastBatch last : {LastBatch::keep, LastBatch::discard, LastBatch::rollover}) {
    const DataLoaderOptions options{
        .batch_size = 3, .shuffle = true, .last_batch = last, .seed = 4};
    DataLoader whole(numbered(10), options);
    Batches expected;
    std::vector<LoaderState> states = {whole.state()};
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (auto& batch : whole) {
        expected.push_back(labels_of(batch));
        states.push_back(whole.state());
      }
    }
    for (size_t i = 0; i < states.size(); ++i) {
      DataLoaderOptions other = options;
      other.workers = static_cast<int>(i % 3);
      other.seed = 77;  // the state's counts
      DataLoader resumed(numbered(10), other);
      resumed.restore(states[i]);
      Batches rest(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(i));
      while (resumed.epoch() < 3)
        for (auto& batch : resumed) rest.push_back(labels_of(batch));
      EXPECT_EQ(rest, expected) << "resumed after batch " << i;
    }
  }
}

TEST(DataLoader, ResumesWithAnotherBatchSizeAndOtherRanks) {
  DataLoader loader(numbered(20), {.batch_size = 4, .shuffle = true, .seed = 4});
  const std::vector<int64_t> order = flat(pass_of(loader));
  loader.set_epoch(0);
  auto it = loader.begin();
  ++it;
  const LoaderState state = loader.state();  // 8 samples on
  EXPECT_EQ(state.position, 8);
  std::vector<int64_t> rest;
  for (int64_t rank = 0; rank < 3; ++rank) {
    DataLoader other(numbered(20),
                     {.batch_size = 5, .shuffle = true, .rank = rank, .world_size = 3});
    other.restore(state);
    for (int64_t label : flat(pass_of(other))) rest.push_back(label);
  }
  std::vector<int64_t> expected(order.begin() + 8, order.end());
  std::ranges::sort(expected);
  std::ranges::sort(rest);
  EXPECT_EQ(rest, expected);
}

TEST(DataLoader, APassLeftEarlyIsOver) {
  DataLoader loader(numbered(10), {.batch_size = 3, .shuffle = true, .seed = 1});
  for (auto& batch : loader) {
    EXPECT_EQ(batch.size, 3);
    break;
  }
  EXPECT_EQ(loader.epoch(), 0);
  EXPECT_EQ(loader.state().position, 3) << "a checkpoint after the break goes on with the pass";
  EXPECT_EQ(pass_of(loader).size(), 4u);
  EXPECT_EQ(loader.epoch(), 2);
}

TEST(DataLoader, AnOlderIteratorEndsWhenAPassBegins) {
  DataLoader loader(numbered(10), {.batch_size = 3});
  auto old = loader.begin();
  auto current = loader.begin();
  EXPECT_TRUE(old == loader.end());
  EXPECT_FALSE(current == loader.end());
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { *old; }), HasSubstr("the pass is over"));
}

TEST(DataLoader, BatchesAreTheCallersToKeep) {
  DataLoader loader(numbered(4), {.batch_size = 2});
  std::vector<Tensor> kept;
  for (auto& batch : loader) kept.push_back(batch.label);
  EXPECT_THAT(kept[0].to_vector<int64_t>(), ElementsAre(0, 1));
  EXPECT_THAT(kept[1].to_vector<int64_t>(), ElementsAre(2, 3));
}

TEST(DataLoader, ReusesTheMemoryOfBatchesThatNobodyKeeps) {
  DataLoader loader(numbered(64), {.batch_size = 8});
  pass_of(loader);
  const uint64_t before = memory_stats().system_allocations;
  pass_of(loader);
  EXPECT_EQ(memory_stats().system_allocations, before);
}

TEST(DataLoader, RejectsOptionsAndStatesThatDoNotFit) {
  const auto text = [](DataLoaderOptions options) {
    return error_text(ErrorKind::invalid, [&] { DataLoader(numbered(3), options); });
  };
  EXPECT_EQ(text({.batch_size = 0}), "loader: batch_size is 0; it must be at least 1");
  EXPECT_EQ(text({.workers = -1}), "loader: workers is -1; it must not be negative");
  EXPECT_EQ(text({.rank = 2, .world_size = 2}),
            "loader: rank 2 of world_size 2; ranks are 0 to world_size - 1");
  EXPECT_EQ(text({.epoch = -1}), "loader: epoch is -1; it must be from 0 to 768614336404564650");
  DataLoader loader(numbered(3));
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { loader.restore({.samples = 4}); }),
            "loader: the state is of a set of 4 samples; arrays has 3");
  EXPECT_EQ(
      error_text(ErrorKind::invalid,
                 [&] { loader.restore({.epoch = 1, .position = 0, .carried = 4, .samples = 3}); }),
      "loader: no pass over 3 samples has epoch 1, position 0, carried 4");
}

TEST(DataLoader, ABatchMayBeAskedToHoldEverything) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (int workers : {0, 2}) {
    DataLoader keep(numbered(5), {.batch_size = kMost, .workers = workers});
    EXPECT_THAT(pass_of(keep), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
    DataLoader rolls(numbered(5), {.batch_size = kMost, .last_batch = LastBatch::rollover});
    pass_of(rolls);
    EXPECT_EQ(pass_of(rolls).size(), 0u);
    EXPECT_EQ(rolls.state().carried, 10);
  }
}

TEST(DataLoader, SaysWhichBatchAnErrorWithoutAPlaceIsOf) {
  const Dataset set = numbered(10).transform("label", {one_hot(7)});
  DataLoader loader(set, {.batch_size = 4});
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         for ([[maybe_unused]] auto& b : loader) {
                         }
                       }),
            "one_hot: label 7 is not in [0, 7); sample 7, in the batch at position 4 of epoch 0");
}

}  // namespace
}  // namespace thalweg::data
