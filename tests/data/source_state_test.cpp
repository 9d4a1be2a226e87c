// Checkpoints of a minibatch source: every stop point, restored, gives the same rest.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/clock.h>
#include <thalweg/data/memory.h>

#include "base/expect_error.h"
#include "data/numbered_corpus.h"

namespace thalweg::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

NumberedCorpus mixed_corpus() {
  return NumberedCorpus({.chunks = {7, 1, 12, 0, 5, 9, 3, 10, 6},
                         .length = [](int64_t i) { return 1 + i % 4; },
                         .loads_parts = true});
}

/// Values of stream "x" with the number of their minibatch, and all that tells sequences apart.
using Content = std::vector<std::vector<float>>;

Content content_of_rest(MinibatchSource& source, int64_t size) {
  Content all;
  while (const Minibatch mb = source.next_minibatch(size)) {
    all.push_back(mb["x"].to_vector<float>());
    for (const MinibatchSequence& it : mb.sequences)
      all.back().insert(all.back().end(),
                        {static_cast<float>(it.number), static_cast<float>(it.sweep),
                         static_cast<float>(it.first_sample), static_cast<float>(it.samples)});
    all.back().push_back(mb.end_of_sweep ? 1 : 0);
  }
  return all;
}

/// Restores each state of a run in a source of its own, and the last of them also in the one that
/// made it.
void expect_same_rest(const MinibatchSourceOptions& options, MinibatchSourceOptions other,
                      int64_t size, const NumberedCorpus& corpus) {
  MinibatchSource whole({corpus}, options);
  const Content expected = content_of_rest(whole, size);
  MinibatchSource source({corpus}, options);
  for (size_t stop = 0; stop <= expected.size(); ++stop) {
    const std::string state = source.checkpoint();
    EXPECT_LT(state.size(), 600u);
    const Content rest(expected.begin() + static_cast<std::ptrdiff_t>(stop), expected.end());
    MinibatchSource fresh({corpus}, other);
    for (int again = 0; again < 2; ++again) {
      fresh.restore(state);
      EXPECT_EQ(fresh.checkpoint(), state);
      EXPECT_EQ(content_of_rest(fresh, size), rest) << "after " << stop << " minibatches";
    }
    source.next_minibatch(size);
  }
  MinibatchSource first({corpus}, options);
  source.restore(first.checkpoint());
  EXPECT_EQ(content_of_rest(source, size), expected);
}

MinibatchSourceOptions little_memory() {
  return {.memory_limit = size_t{64} << 10, .seed = 5, .max_sweeps = 2, .cntk_window_chunks = 3};
}

TEST(SourceState, EveryStopPointGivesTheSameRest) {
  for (bool randomize : {false, true}) {
    for (Shuffle shuffle : {Shuffle::window, Shuffle::corpus, Shuffle::cntk}) {
      for (SweepEnd end : {SweepEnd::join, SweepEnd::drop, SweepEnd::cross}) {
        MinibatchSourceOptions options = little_memory();
        options.randomize = randomize;
        options.shuffle = shuffle;
        options.sweep_end = end;
        MinibatchSourceOptions other = options;
        other.workers = 3;
        other.seed = 99;  // the state's counts
        if (shuffle == Shuffle::cntk || !randomize) other.memory_limit *= 10;
        expect_same_rest(options, other, 13, mixed_corpus());
      }
    }
  }
}

// huggingface/datasets #7901: what sits in the shuffle window is not forgotten.
TEST(SourceState, NothingInTheWindowIsForgotten) {
  for (int64_t chunk = 1; chunk <= 12; ++chunk) {
    NumberedCorpus corpus = NumberedCorpus::of(12, chunk);
    corpus.options().sequence_bytes = 2500;
    MinibatchSourceOptions options = little_memory();
    options.max_sweeps = 1;
    expect_same_rest(options, options, 1, corpus);
  }
}

TEST(SourceState, BucketsAndTruncatedSlotsGoOnWhereTheyWere) {
  MinibatchSourceOptions buckets = little_memory();
  buckets.bucket_sequences = 20;
  buckets.packing = Packing::padded;
  expect_same_rest(buckets, buckets, 9, mixed_corpus());

  for (SweepEnd end : {SweepEnd::join, SweepEnd::cross}) {
    NumberedCorpus corpus = mixed_corpus();
    corpus.options().length = [](int64_t i) { return 1 + i * 7 % 23; };
    MinibatchSourceOptions slots = little_memory();
    slots.packing = Packing::truncated;
    slots.truncation = 4;
    slots.sweep_end = end;
    MinibatchSourceOptions other = slots;
    other.workers = 0;
    // "id" has one sample, so that sequences of more are no truncated ones; "x" alone is.
    class OnlyValues : public Deserializer {
     public:
      explicit OnlyValues(NumberedCorpus corpus) : corpus_(std::move(corpus)) {}
      std::string name() const override { return corpus_.name(); }
      const std::vector<StreamInfo>& streams() const override { return streams_; }
      bool has_chunk(int64_t chunk) const override { return corpus_.has_chunk(chunk); }
      int64_t chunks() const override { return corpus_.chunks(); }
      ChunkInfo chunk(int64_t chunk) const override { return corpus_.chunk(chunk); }
      std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override {
        return corpus_.load(chunk, wanted);
      }

     private:
      NumberedCorpus corpus_;
      std::vector<StreamInfo> streams_{{"x", DType::f32, {}}};
    };
    MinibatchSource whole({OnlyValues(corpus)}, slots);
    const Content expected = content_of_rest(whole, 24);
    MinibatchSource source({OnlyValues(corpus)}, slots);
    for (size_t stop = 0; stop < expected.size(); ++stop) {
      MinibatchSource fresh({OnlyValues(corpus)}, other);
      fresh.restore(source.checkpoint());
      EXPECT_EQ(content_of_rest(fresh, 24),
                Content(expected.begin() + static_cast<std::ptrdiff_t>(stop), expected.end()))
          << stop;
      source.next_minibatch(24);
    }
  }
}

TEST(SourceState, AnotherNumberOfRanksGoesOnWithTheSameMinibatches) {
  const MinibatchSourceOptions options = little_memory();
  MinibatchSource whole({mixed_corpus()}, options);
  std::vector<std::vector<int64_t>> expected = rest_of(whole, 13);
  for (int64_t before : {1, 2, 3}) {
    for (int64_t after : {1, 2, 7}) {
      for (size_t stop : {size_t{1}, size_t{6}, size_t{11}}) {
        MinibatchSourceOptions some = options;
        some.world_size = before;
        some.rank = before - 1;
        MinibatchSource source({mixed_corpus()}, some);
        for (size_t i = 0; i < stop; ++i) source.next_minibatch(13);
        std::vector<std::vector<int64_t>> rest(expected.size() - stop);
        for (some.world_size = after, some.rank = 0; some.rank < after; ++some.rank) {
          MinibatchSource next({mixed_corpus()}, some);
          next.restore(source.checkpoint());
          const auto own = rest_of(next, 13);
          ASSERT_EQ(own.size(), rest.size());
          for (size_t i = 0; i < own.size(); ++i)
            rest[i].insert(rest[i].end(), own[i].begin(), own[i].end());
        }
        for (size_t i = 0; i < rest.size(); ++i)
          EXPECT_THAT(rest[i], testing::UnorderedElementsAreArray(expected[stop + i]));
      }
    }
  }
}

TEST(SourceState, TheOrderDoesNotDependOnTheMemoryOfTheSourceThatGoesOn) {
  MinibatchSourceOptions options = little_memory();
  MinibatchSource source({mixed_corpus()}, options);
  source.next_minibatch(13);
  const std::string state = source.checkpoint();
  const auto expected = rest_of(source, 13);
  options.memory_limit *= 100;
  MinibatchSource larger({mixed_corpus()}, options);
  larger.restore(state);
  EXPECT_EQ(rest_of(larger, 13), expected);
}

TEST(SourceState, RestoringAMillionSequencesReadsNothingBefore) {
  constexpr int64_t kSequences = 1000000;
  NumberedCorpus corpus = NumberedCorpus::of(kSequences, 1000);
  corpus.options().sequence_bytes = 100;
  MinibatchSourceOptions options{.memory_limit = size_t{8} << 20, .seed = 3, .workers = 1};
  MinibatchSource first({corpus}, options);
  std::string state = first.checkpoint();
  state.replace(state.find("\"position\":0"), 12, "\"position\":777777");
  NumberedCorpus again = NumberedCorpus::of(kSequences, 1000);
  again.options().sequence_bytes = 100;
  MinibatchSource source({again}, options);
  source.restore(state);
  EXPECT_EQ(source.next_minibatch(128).num_samples, 128);
  // Of 1000, 777 of them before: what the limit holds (83), once more for what the worker frees by
  // the minibatches that it makes ahead.
  EXPECT_LT(again.loads(), 2 * 84);
}

TEST(SourceState, RejectsAStateOfOtherDataOrAnotherOrder) {
  MinibatchSource source({NumberedCorpus::of(20, 5)}, {.seed = 1});
  MinibatchSource other({NumberedCorpus::of(21, 5)}, {.seed = 1});
  MinibatchSource plain({NumberedCorpus::of(20, 5)}, {.randomize = false});
  const std::string state = source.checkpoint();
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { other.restore(state); }),
              AllOf(HasSubstr("20 sequences"), HasSubstr("numbers has 21")));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { plain.restore(state); }),
              AllOf(HasSubstr("'window'"), HasSubstr("'data'")));
  for (const char* text : {"", "{}", "[1]", "{\"version\":2}", "{\"version\":1,\"seed\":\"x\"}"}) {
    EXPECT_THAT(error_text(ErrorKind::invalid, [&] { source.restore(text); }),
                HasSubstr("no state of a minibatch source"));
  }
  std::string negative = state;
  negative.replace(negative.find("\"position\":0"), 12, "\"position\":-1");
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { source.restore(negative); }),
              HasSubstr("negative"));
  EXPECT_EQ(flat(rest_of(source, 5)).size(), 20u);  // as if nothing had been tried
}

}  // namespace
}  // namespace thalweg::data
