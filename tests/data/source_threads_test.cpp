// A minibatch source's threads: errors, leaving early, and memory.

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/minibatch_source.h>

#include "base/expect_error.h"
#include "data/numbered_corpus.h"
#include "data/threads_of_process.h"

namespace thalweg::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Does not fit what std::exception has: it needs both its arguments.
class TwoMembers : public std::exception {
 public:
  TwoMembers(int code, std::string text) : code(code), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  int code;

 private:
  std::string text_;
};

TEST(SourceThreads, AnErrorComesAfterTheMinibatchesBeforeItAndSaysWhere) {
  for (int workers : {0, 1, 4}) {
    const NoNewThreads threads;
    {
      NumberedCorpus corpus = NumberedCorpus::of(40, 6);
      corpus.options().on_read = [](int64_t i) {
        if (i == 17) throw Error(ErrorKind::io, "jpeg: the file ends early");
      };
      MinibatchSource source({corpus}, {.randomize = false, .workers = workers});
      for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(ids_of(source.next_minibatch(4))[0], 4 * i);
      const std::string state = source.checkpoint();
      // It stays wrong, however often one asks.
      for (int i = 0; i < 2; ++i) {
        EXPECT_THAT(error_text(ErrorKind::io, [&] { source.next_minibatch(4); }),
                    AllOf(HasSubstr("the file ends early"), HasSubstr("sequence 17"),
                          HasSubstr("numbers:17")));
      }
      EXPECT_EQ(source.checkpoint(), state);
    }
    threads.check();
  }
}

TEST(SourceThreads, AUsersExceptionKeepsItsTypeAndText) {
  for (int workers : {0, 3}) {
    NumberedCorpus corpus = NumberedCorpus::of(40, 6);
    corpus.options().on_read = [](int64_t i) {
      if (i == 25) throw TwoMembers(42, "bad moon");
    };
    MinibatchSource source({corpus}, {.seed = 1, .workers = workers});
    try {
      rest_of(source, 4);
      ADD_FAILURE() << "no exception";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("bad moon"), HasSubstr("numbers:25")));
      try {
        std::rethrow_if_nested(error);
        ADD_FAILURE() << "nothing nested";
      } catch (const TwoMembers& own) {
        EXPECT_EQ(own.code, 42);
      }
    }
  }
}

TEST(SourceThreads, AChunkThatCannotBeLoadedIsAnErrorAndThreadsEnd) {
  for (int workers : {0, 1, 4}) {
    const NoNewThreads threads;
    {
      NumberedCorpus corpus = NumberedCorpus::of(40, 6);
      corpus.options().on_load = [](int64_t chunk) {
        if (chunk == 3) throw Error(ErrorKind::io, "numbers: the disk is gone");
      };
      MinibatchSource source({corpus}, {.randomize = false, .workers = workers});
      EXPECT_THAT(error_text(ErrorKind::io, [&] { rest_of(source, 4); }),
                  HasSubstr("the disk is gone"));
    }
    threads.check();
  }
}

TEST(SourceThreads, ATransientErrorDoesNotLoseData) {
  auto failures = std::make_shared<std::atomic<int>>(1);
  NumberedCorpus corpus = NumberedCorpus::of(40, 6);
  corpus.options().on_load = [failures](int64_t chunk) {
    if (chunk == 3 && failures->fetch_sub(1) > 0) throw Error(ErrorKind::io, "try again");
  };
  MinibatchSource source({corpus}, {.randomize = false, .workers = 2});
  std::vector<int64_t> ids;
  for (;;) {
    try {
      const Minibatch mb = source.next_minibatch(4);
      if (!mb) break;
      for (int64_t id : ids_of(mb)) ids.push_back(id);
    } catch (const Error&) {
    }
  }
  ASSERT_EQ(ids.size(), 40u);
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], static_cast<int64_t>(i));
}

TEST(SourceThreads, LeavingEarlyLeavesNoThread) {
  const NoNewThreads threads;
  for (int workers : {1, 8}) {
    for (int minibatches = 0; minibatches < 4; ++minibatches) {
      MinibatchSource source({NumberedCorpus::of(5000, 10)},
                             {.memory_limit = size_t{256} << 10, .seed = 1, .workers = workers});
      for (int i = 0; i < minibatches; ++i) source.next_minibatch(8);
    }
  }
  threads.check();
}

/// Chunks of a size that is real, and counted.
class CountedCorpus : public NumberedCorpus {
 public:
  explicit CountedCorpus(Options options) : NumberedCorpus(std::move(options)) {}

  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted) const override {
    const auto bytes = static_cast<int64_t>(this->chunk(chunk).bytes);
    const int64_t held = *held_ += bytes;
    int64_t most = *most_;
    while (held > most && !most_->compare_exchange_weak(most, held)) {
    }
    auto inner = NumberedCorpus::load(chunk, wanted);
    const Chunk* address = inner.get();
    return {address, [inner = std::move(inner), held = held_, bytes](const Chunk*) mutable {
              inner.reset();
              *held -= bytes;
            }};
  }
  int64_t most() const { return *most_; }

 private:
  std::shared_ptr<std::atomic<int64_t>> held_ = std::make_shared<std::atomic<int64_t>>(0);
  std::shared_ptr<std::atomic<int64_t>> most_ = std::make_shared<std::atomic<int64_t>>(0);
};

TEST(SourceThreads, ChunksAndMinibatchesStayWithinTheLimit) {
  constexpr size_t kLimit = size_t{1} << 20;
  for (bool randomize : {false, true}) {
    for (int workers : {0, 1, 4}) {
      NumberedCorpus::Options options;
      options.chunks.assign(250, 50);
      options.sequence_bytes = 1000;  // 12 MB in all
      CountedCorpus corpus(options);
      MinibatchSource source({corpus}, {.randomize = randomize,
                                        .memory_limit = kLimit,
                                        .seed = 1,
                                        .max_sweeps = 2,
                                        .workers = workers});
      int64_t count = 0;
      while (auto mb = source.next_minibatch(100)) {
        count += mb.num_samples;
        EXPECT_LE(source.statistics().held_bytes, kLimit);
      }
      EXPECT_EQ(count, 25000);
      EXPECT_LE(corpus.most(), static_cast<int64_t>(kLimit)) << workers << " workers";
      EXPECT_LE(source.statistics().most_bytes, kLimit);
    }
  }
}

TEST(SourceThreads, AMinibatchLargerThanAWindowIsMade) {
  for (int workers : {0, 1, 4}) {
    NumberedCorpus corpus = NumberedCorpus::of(1000, 5);
    MinibatchSource source({corpus}, {.memory_limit = size_t{64} << 10, .workers = workers});
    EXPECT_EQ(source.next_minibatch(1000).num_samples, 1000);
    EXPECT_FALSE(source.next_minibatch(1000));
  }
}

TEST(SourceThreads, ALimitTooSmallForASequenceSaysHowMuchIsNeeded) {
  for (int workers : {0, 2}) {
    NumberedCorpus corpus = NumberedCorpus::of(4, 1);
    corpus.options().sequence_bytes = size_t{1} << 20;
    MinibatchSource source({corpus},
                           {.memory_limit = size_t{256} << 10, .seed = 1, .workers = workers});
    EXPECT_THAT(error_text(ErrorKind::invalid, [&] { source.next_minibatch(1); }),
                AllOf(HasSubstr("memory_limit is too small"), HasSubstr("1.00 MiB"),
                      HasSubstr("at least")));
  }
}

TEST(SourceThreads, NoMoreMinibatchesAreMadeThanTheCacheHolds) {
  auto reads = std::make_shared<std::atomic<int64_t>>(0);
  NumberedCorpus corpus = NumberedCorpus::of(1000, 100);
  corpus.options().on_read = [reads](int64_t) { ++*reads; };
  MinibatchSource source({corpus}, {.seed = 1, .workers = 2, .cache_size = 3});
  source.next_minibatch(10);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(*reads, 4 * 10 * 2);  // of two streams
}

TEST(SourceThreads, StatisticsTellWhatWasDone) {
  MinibatchSource source({NumberedCorpus::of(100, 10)}, {.seed = 1, .workers = 2});
  rest_of(source, 10);
  const SourceStatistics statistics = source.statistics();
  EXPECT_EQ(statistics.samples, 100);
  EXPECT_EQ(statistics.sequences, 100);
  EXPECT_EQ(statistics.minibatches, 10);
  EXPECT_EQ(statistics.chunks, 10);
  EXPECT_GT(statistics.load_seconds, 0);
  EXPECT_GT(statistics.make_seconds, 0);
  EXPECT_GT(statistics.wait_seconds, 0);
}

}  // namespace
}  // namespace thalweg::data
