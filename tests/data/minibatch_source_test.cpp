#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/memory.h>
#include <thalweg/data/minibatch_source.h>

#include "base/expect_error.h"
#include "data/numbered_corpus.h"

namespace thalweg::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int64_t> numbers(int64_t n) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int64_t> sorted(std::vector<int64_t> values) {
  std::ranges::sort(values);
  return values;
}

constexpr Shuffle kShuffles[] = {Shuffle::window, Shuffle::corpus, Shuffle::cntk};

/// A corpus of 53 sequences in chunks of different sizes, one of them empty, that a source with
/// little_memory() holds a part of.
NumberedCorpus mixed_corpus() {
  return NumberedCorpus({.chunks = {7, 1, 12, 0, 5, 9, 3, 10, 6},
                         .length = [](int64_t i) { return 1 + i % 4; },
                         .loads_parts = true});
}
MinibatchSourceOptions little_memory() {
  return {.memory_limit = size_t{64} << 10, .seed = 5, .cntk_window_chunks = 3};
}

TEST(MinibatchSource, GivesArraysInMemoryByName) {
  MinibatchSource source({MemoryDeserializer({{"features", Tensor::of<float>({1, 2, 3, 4}, {2, 2})},
                                              {"labels", Tensor::of<int64_t>({7, 8})}})},
                         {.randomize = false});
  auto mb = source.next_minibatch(64);
  ASSERT_TRUE(mb);
  EXPECT_EQ(mb["features"].shape(), (Shape{2, 2}));
  EXPECT_THAT(mb["features"].to_vector<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(mb["labels"].to_vector<int64_t>(), ElementsAre(7, 8));
  EXPECT_EQ(mb.num_samples, 2);
  EXPECT_EQ(mb.num_sequences, 2);
  EXPECT_TRUE(mb.end_of_sweep);
  EXPECT_FALSE(source.next_minibatch(64));
  EXPECT_FALSE(source.next_minibatch(64));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { mb["label"]; }),
              AllOf(HasSubstr("'label'"), HasSubstr("'features', 'labels'"),
                    HasSubstr("did you mean 'labels'?")));
}

TEST(MinibatchSource, GivesEverySequenceOnceASweepInAllOrders) {
  for (Shuffle shuffle : kShuffles) {
    MinibatchSourceOptions options = little_memory();
    options.shuffle = shuffle;
    options.max_sweeps = 2;
    MinibatchSource source({mixed_corpus()}, options);
    std::vector<std::vector<int64_t>> sweeps(2);
    while (auto mb = source.next_minibatch(10))
      for (int64_t id : ids_of(mb)) sweeps[static_cast<size_t>(mb.sweep)].push_back(id);
    EXPECT_EQ(sorted(sweeps[0]), numbers(53));
    EXPECT_EQ(sorted(sweeps[1]), numbers(53));
    EXPECT_NE(sweeps[0], sweeps[1]);
    EXPECT_NE(sweeps[0], numbers(53));
  }
}

TEST(MinibatchSource, MixesWholeCorpusWhenItFits) {
  NumberedCorpus corpus = NumberedCorpus::of(1000, 10);
  MinibatchSource source({corpus}, {.seed = 1});
  const auto order = flat(rest_of(source, 100));
  // Of neighbours in a mixed order, few are from one chunk: 9 of 999 other places.
  int64_t together = 0;
  for (size_t i = 1; i < order.size(); ++i) together += order[i] / 10 == order[i - 1] / 10;
  EXPECT_LT(together, 30);
  EXPECT_EQ(corpus.loads(), 100);
}

TEST(MinibatchSource, KeepsInMemoryWhatFitsForAllSweeps) {
  NumberedCorpus corpus = NumberedCorpus::of(100, 10);
  MinibatchSource source({corpus}, {.seed = 1, .max_sweeps = 5});
  EXPECT_EQ(flat(rest_of(source, 7)).size(), 500u);
  EXPECT_EQ(corpus.loads(), 10);
}

TEST(MinibatchSource, OrderAndContentAreThoseOfOneThreadForAnyNumber) {
  for (bool randomize : {false, true}) {
    for (Shuffle shuffle : kShuffles) {
      MinibatchSourceOptions options = little_memory();
      options.randomize = randomize;
      options.shuffle = shuffle;
      options.max_sweeps = 2;
      options.workers = 0;
      MinibatchSource alone({mixed_corpus()}, options);
      const auto expected = rest_of(alone, 9);
      for (int workers : {1, 2, 3, 8}) {
        for (int64_t cache : {0, 1, 3}) {
          options.workers = workers;
          options.cache_size = cache;
          MinibatchSource source({mixed_corpus()}, options);
          EXPECT_EQ(rest_of(source, 9), expected) << workers << " workers";
        }
      }
    }
  }
}

TEST(MinibatchSource, RanksShareEachMinibatchOfTheOrderWithoutRanks) {
  for (bool randomize : {false, true}) {
    for (Shuffle shuffle : kShuffles) {
      for (SweepEnd end : {SweepEnd::join, SweepEnd::cross, SweepEnd::drop}) {
        MinibatchSourceOptions options = little_memory();
        options.randomize = randomize;
        options.shuffle = shuffle;
        options.sweep_end = end;
        options.max_sweeps = 2;
        MinibatchSource alone({mixed_corpus()}, options);
        std::vector<std::vector<int64_t>> expected;
        for (auto& minibatch : rest_of(alone, 11)) expected.push_back(sorted(minibatch));
        for (int64_t world : {2, 3, 7}) {
          std::vector<std::vector<int64_t>> all(expected.size());
          for (int64_t rank = 0; rank < world; ++rank) {
            options.rank = rank;
            options.world_size = world;
            options.workers = static_cast<int>(rank % 3);
            MinibatchSource source({mixed_corpus()}, options);
            const auto own = rest_of(source, 11);
            ASSERT_EQ(own.size(), expected.size());
            for (size_t i = 0; i < own.size(); ++i)
              all[i].insert(all[i].end(), own[i].begin(), own[i].end());
          }
          for (auto& minibatch : all) minibatch = sorted(minibatch);
          EXPECT_EQ(all, expected) << "ranks " << world;
        }
      }
    }
  }
}

TEST(MinibatchSource, CorpusOfOneChunkFeedsEveryRank) {
  for (int64_t rank = 0; rank < 2; ++rank) {
    MinibatchSource source({NumberedCorpus::of(25, 25)},
                           {.seed = 0, .rank = rank, .world_size = 2});
    EXPECT_EQ(flat(rest_of(source, 10)).size(), rank == 0 ? 13u : 12u);
  }
}

// pytorch/pytorch #45324 and its like: nothing is repeated, and no rank waits for ever.
TEST(MinibatchSource, RanksWithoutDataTakePartWithNoSamples) {
  for (int64_t sequences : {4, 10}) {
    const int64_t world = sequences == 4 ? 9 : 4;
    int64_t samples = 0;
    std::vector<size_t> minibatches;
    for (int64_t rank = 0; rank < world; ++rank) {
      MinibatchSource source({NumberedCorpus::of(sequences, 100)},
                             {.seed = 2, .rank = rank, .world_size = world});
      size_t count = 0;
      while (auto mb = source.next_minibatch(8)) {
        EXPECT_EQ(mb["x"].shape(), (Shape{mb.num_samples}));
        samples += mb.num_samples;
        ++count;
      }
      minibatches.push_back(count);
    }
    EXPECT_EQ(samples, sequences);
    EXPECT_EQ(std::ranges::min(minibatches), std::ranges::max(minibatches));
  }
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { MinibatchSource source({NumberedCorpus({})}); }),
              AllOf(HasSubstr("numbers"), HasSubstr("has no sequence")));
}

TEST(MinibatchSource, PadGivesAllRanksTheSameNumberOfSequences) {
  int64_t repeated = 0;
  for (int64_t rank = 0; rank < 4; ++rank) {
    MinibatchSource source({NumberedCorpus::of(13, 5)},
                           {.seed = 2, .sweep_end = SweepEnd::pad, .rank = rank, .world_size = 4});
    ASSERT_EQ(source.next_minibatch(8).num_sequences, 2);
    const Minibatch last = source.next_minibatch(8);
    EXPECT_EQ(last.num_sequences, 2);
    EXPECT_EQ(last.all_sequences, 5);
    repeated += last.repeated;
    EXPECT_FALSE(source.next_minibatch(8));
  }
  EXPECT_EQ(repeated, 3);
}

TEST(MinibatchSource, DropLeavesOutWhatDoesNotFillAMinibatch) {
  MinibatchSource source({NumberedCorpus::of(13, 5)},
                         {.max_sweeps = 2, .sweep_end = SweepEnd::drop, .workers = 0});
  std::vector<int64_t> sizes;
  std::vector<bool> ends;
  while (auto mb = source.next_minibatch(4)) {
    sizes.push_back(mb.num_sequences);
    ends.push_back(mb.end_of_sweep);
  }
  EXPECT_THAT(sizes, ElementsAre(4, 4, 4, 4, 4, 4));
  EXPECT_THAT(ends, ElementsAre(false, false, true, false, false, true));
  MinibatchSource small({NumberedCorpus::of(3, 5)},
                        {.max_sweeps = 0, .sweep_end = SweepEnd::drop, .workers = 0});
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { small.next_minibatch(4); }),
              HasSubstr("3 samples, less than a minibatch of 4"));
}

// ReaderLibTests of CNTK 2: ten values in five chunks.
TEST(MinibatchSource, CntkOrderIsCntksOwn) {
  MinibatchSource source({NumberedCorpus::of(10, 2)},
                         {.shuffle = Shuffle::cntk, .seed = 0, .max_sweeps = 2});
  EXPECT_THAT(rest_of(source, 10), ElementsAre(ElementsAre(6, 3, 1, 5, 9, 0, 4, 2, 7, 8),
                                               ElementsAre(3, 0, 8, 4, 7, 5, 2, 9, 1, 6)));
  // Seed 1 starts with the order of seed 0's second sweep.
  MinibatchSource next({NumberedCorpus::of(10, 2)}, {.shuffle = Shuffle::cntk, .seed = 1});
  EXPECT_THAT(rest_of(next, 10), ElementsAre(ElementsAre(3, 0, 8, 4, 7, 5, 2, 9, 1, 6)));
}

// The lengths of CNTK's distributed_test.py.
NumberedCorpus cntk_lengths() {
  return NumberedCorpus({.chunks = {10}, .length = [](int64_t i) {
                           return std::vector<int64_t>{
                               7, 3, 4, 1, 2, 2, 1, 2, 2, 1}[static_cast<size_t>(i)];
                         }});
}

TEST(MinibatchSource, FillsMinibatchesWithWholeSequencesAndAtLeastOne) {
  const auto sizes = [](MinibatchSourceOptions options, int64_t size) {
    options.randomize = false;
    MinibatchSource source({cntk_lengths()}, options);
    std::vector<int64_t> all;
    while (auto mb = source.next_minibatch(size)) {
      EXPECT_EQ(mb["x"].shape()[0], mb.num_samples);
      all.push_back(mb.num_samples);
    }
    return all;
  };
  EXPECT_THAT(sizes({}, 5), ElementsAre(7, 3, 5, 5, 5));
  EXPECT_THAT(sizes({}, 10), ElementsAre(10, 10, 5));
  EXPECT_THAT(sizes({.size_unit = SizeUnit::sequences}, 4), ElementsAre(15, 7, 3));
  // 36 samples end in the second sweep; the sequence that is begun before is given.
  EXPECT_THAT(sizes({.max_sweeps = 0, .max_samples = 36, .sweep_end = SweepEnd::cross}, 10),
              ElementsAre(10, 10, 5, 10, 4));
  EXPECT_THAT(sizes({.max_sweeps = 0, .max_samples = 26}, 30), ElementsAre(25, 7));
}

// distributed_test.py of CNTK 2: one chunk, seed 0.
TEST(MinibatchSource, FillsMinibatchesInCntksOrderAsCntk) {
  MinibatchSource source({cntk_lengths()}, {.shuffle = Shuffle::cntk, .seed = 0});
  std::vector<int64_t> sizes;
  while (auto mb = source.next_minibatch(5)) sizes.push_back(mb.num_samples);
  EXPECT_THAT(sizes, ElementsAre(5, 4, 4, 5, 7));
}

// The same test without shuffling: two ranks, 36 samples.
TEST(MinibatchSource, RanksFillTheirSharesAsInCntkWhenAskedTo) {
  const auto sizes = [](int64_t rank, int workers) {
    const MinibatchSourceOptions options{.randomize = false,
                                         .max_sweeps = 0,
                                         .max_samples = 36,
                                         .sweep_end = SweepEnd::cross,
                                         .workers = workers,
                                         .rank = rank,
                                         .world_size = 2,
                                         .fill_by_rank = true};
    MinibatchSource source({cntk_lengths()}, options);
    std::vector<int64_t> all;
    while (auto mb = source.next_minibatch(10)) {
      all.push_back(mb.num_samples);
      MinibatchSource next({cntk_lengths()}, options);
      next.restore(source.checkpoint());
      source = std::move(next);
    }
    return all;
  };
  for (int workers : {0, 2}) {
    EXPECT_THAT(sizes(0, workers), ElementsAre(7, 4, 5, 7, 4));
    EXPECT_THAT(sizes(1, workers), ElementsAre(4, 5, 3));
  }
}

TEST(MinibatchSource, TellsWhenASweepEnds) {
  for (SweepEnd end : {SweepEnd::join, SweepEnd::cross}) {
    MinibatchSource source({NumberedCorpus::of(10, 4)},
                           {.max_sweeps = 2, .sweep_end = end, .workers = 0});
    std::vector<bool> ends;
    while (auto mb = source.next_minibatch(4)) ends.push_back(mb.end_of_sweep);
    if (end == SweepEnd::join) {
      EXPECT_THAT(ends, ElementsAre(false, false, true, false, false, true));
    } else {
      EXPECT_THAT(ends, ElementsAre(false, false, true, false, true));
    }
  }
}

TEST(MinibatchSource, DroppedSequencesAreInNoStream) {
  NumberedCorpus corpus = NumberedCorpus::of(20, 6);
  corpus.options().dropped = {0, 7, 19};
  MinibatchSource source({corpus}, {.randomize = false});
  std::vector<int64_t> expected = numbers(20);
  std::erase_if(expected, [](int64_t i) { return i == 0 || i == 7 || i == 19; });
  const auto minibatches = rest_of(source, 5);
  EXPECT_EQ(flat(minibatches), expected);
  EXPECT_EQ(minibatches[0].size(), 5u);
}

TEST(MinibatchSource, LooksNoFurtherThanItMustInTheOrderOfTheData) {
  NumberedCorpus corpus = NumberedCorpus::of(100000, 10);
  corpus.options().sequence_bytes = 1000;
  MinibatchSource source({corpus}, {.randomize = false, .memory_limit = size_t{64} << 10});
  EXPECT_THAT(ids_of(source.next_minibatch(4)), ElementsAre(0, 1, 2, 3));
  EXPECT_LT(corpus.most_asked(), 100);
}

TEST(MinibatchSource, ChangingTheSizeGoesOnWithTheNextSequence) {
  for (int workers : {0, 2}) {
    MinibatchSourceOptions options = little_memory();
    options.workers = workers;
    options.size_unit = SizeUnit::sequences;
    MinibatchSource whole({mixed_corpus()}, options);
    const auto expected = flat(rest_of(whole, 53));
    MinibatchSource source({mixed_corpus()}, options);
    std::vector<int64_t> order;
    for (int64_t size : {3, 3, 10, 1, 20, 7, 100})
      for (int64_t id : ids_of(source.next_minibatch(size))) order.push_back(id);
    EXPECT_EQ(order, expected);
  }
}

TEST(MinibatchSource, WeightsDrawWithReplacement) {
  NumberedCorpus corpus = NumberedCorpus::of(4, 2);
  MinibatchSource source({corpus}, {.seed = 1, .max_sweeps = 2500, .weights = {0, 1, 3, 6}});
  std::vector<int64_t> counts(4);
  for (int64_t id : flat(rest_of(source, 100))) ++counts[static_cast<size_t>(id)];
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(static_cast<double>(counts[1]), 1000, 120);  // four standard deviations
  EXPECT_NEAR(static_cast<double>(counts[2]), 3000, 180);
  EXPECT_NEAR(static_cast<double>(counts[3]), 6000, 200);
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           MinibatchSource other({corpus}, {.weights = {1, 2}});
                         }),
              AllOf(HasSubstr("2 weights"), HasSubstr("4 sequences")));
}

TEST(MinibatchSource, RejectsOptionsThatDoNotFit) {
  const auto with = [](MinibatchSourceOptions options) {
    MinibatchSource source({NumberedCorpus::of(4, 2)}, options);
  };
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { with({.workers = -1}); }),
              HasSubstr("workers is -1"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { with({.rank = 2, .world_size = 2}); }),
              HasSubstr("rank 2 of world_size 2"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { with({.packing = Packing::truncated}); }),
              HasSubstr("truncation is 0"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { with({.memory_limit = 5}); }),
              AllOf(HasSubstr("5 B"), HasSubstr("64.0 KiB")));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           with({.weights = {1, -1, 1, 1}});
                         }),
              HasSubstr("weight 1 is -1"));
  MinibatchSource source({NumberedCorpus::of(4, 2)});
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { source.next_minibatch(0); }),
              HasSubstr("size of a minibatch is 0"));
}

}  // namespace
}  // namespace thalweg::data
