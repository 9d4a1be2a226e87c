#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/loader.h>

#include "base/expect_error.h"
#include "data/sample_sets.h"
#include "data/threads_of_process.h"

namespace thalweg::data {
namespace {

using testing::HasSubstr;

/// Values and labels of two passes over samples that a random transform has changed.
std::vector<float> two_passes(DataLoaderOptions options) {
  const Dataset set = numbered(53).transform({each([](const Tensor& sample, Philox& random) {
    return Tensor::of<float>({sample.data<float>()[0], random.uniform(), random.uniform()});
  })});
  DataLoader loader(set, options);
  std::vector<float> all;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : loader) {
      for (float value : batch.data.to_vector<float>()) all.push_back(value);
      for (int64_t label : labels_of(batch)) all.push_back(static_cast<float>(label));
    }
  }
  return all;
}

TEST(LoaderWorkers, TheirNumberChangesNeitherOrderNorContent) {
  for (LastBatch last : {LastBatch::keep, LastBatch::rollover}) {
    DataLoaderOptions options{.batch_size = 4, .shuffle = true, .last_batch = last, .seed = 3};
    const std::vector<float> expected = two_passes(options);
    for (int workers : {1, 2, 4, 8}) {
      for (size_t bound : {size_t{0}, size_t{1}, size_t{1} << 20}) {
        options.workers = workers;
        options.prefetch_bytes = bound;
        EXPECT_EQ(two_passes(options), expected) << workers << " workers, " << bound << " bytes";
      }
    }
  }
}

TEST(LoaderWorkers, TheBatchSizeDoesNotChangeRandomTransforms) {
  const auto values = [](int64_t batch_size) {
    const Dataset set = numbered(20).transform({each(
        [](const Tensor&, Philox& random) { return Tensor::of<float>({random.uniform()}); })});
    std::vector<float> all;
    for (auto& batch : DataLoader(set, {.batch_size = batch_size, .shuffle = true, .seed = 1}))
      for (float value : batch.data.to_vector<float>()) all.push_back(value);
    return all;
  };
  EXPECT_EQ(values(3), values(20));
}

Dataset failing_at(int64_t bad) {
  return numbered(30).map([bad](std::vector<Tensor>& fields, Philox&) {
    if (fields[1].item<int64_t>() == bad) throw std::out_of_range("broken record");
  });
}

TEST(LoaderWorkers, AnExceptionReachesTheCallerInOrderWithTheSample) {
  const NoNewThreads no_new_threads;
  for (int workers : {0, 1, 3}) {
    DataLoader loader(failing_at(17), {.batch_size = 5, .workers = workers});
    std::vector<int64_t> seen;
    const std::string text = error_text(ErrorKind::invalid, [&] {
      for (auto& batch : loader)
        for (int64_t label : labels_of(batch)) seen.push_back(label);
    });
    EXPECT_EQ(text, "map: broken record, in sample 17 of epoch 0");
    EXPECT_EQ(seen.size(), 15u) << "the batches before the bad one come first";
    EXPECT_EQ(loader.state().position, 15);
    no_new_threads.check();
    // The loader lives on.
    auto next = loader.begin();
    EXPECT_EQ(loader.epoch(), 1);
    EXPECT_EQ((*next).size, 5);
  }
}

TEST(LoaderWorkers, AnExceptionOfTheCallerLeavesNoThread) {
  const NoNewThreads no_new_threads;
  EXPECT_THROW(
      {
        for (auto& batch : DataLoader(numbered(1000), {.batch_size = 2, .workers = 3}))
          if (batch.size == 2) throw std::runtime_error("the caller's");
      },
      std::runtime_error);
  no_new_threads.check();
}

TEST(LoaderWorkers, LeavingEarlyLeavesNoThreadAndDoesNotHang) {
  const NoNewThreads no_new_threads;
  for (int round = 0; round < 20; ++round) {
    DataLoader loader(numbered(1000),
                      {.batch_size = 2, .workers = 4, .prefetch_bytes = size_t(round) * 100});
    int batches = 0;
    for (auto& batch : loader) {
      ASSERT_EQ(batch.size, 2);
      if (++batches == round % 5 + 1) break;
    }
    no_new_threads.check();
    auto kept = loader.begin();
    EXPECT_FALSE(kept == loader.end());
  }
  no_new_threads.check();
}

TEST(LoaderWorkers, AnIteratorMayOutliveItsLoader) {
  auto loader = std::make_unique<DataLoader>(numbered(10), DataLoaderOptions{.workers = 2});
  auto it = loader->begin();
  loader.reset();
  EXPECT_EQ((*it).size, 10);
  ++it;
  EXPECT_TRUE(it == std::default_sentinel);
}

/// Counts how far gathers run ahead of a slow consumer.
class CountingSource final : public SampleSource {
 public:
  std::string name() const override { return "counting"; }
  int64_t size() const override { return 400; }
  const std::vector<Field>& fields() const override { return fields_; }
  std::vector<Tensor> gather(const Request& request) const override {
    ++gathers;
    return {Tensor::zeros({static_cast<int64_t>(request.size()), 1000})};
  }

  mutable std::atomic<int> gathers = 0;

 private:
  std::vector<Field> fields_ = {{"data", DType::f32, {1000}}};
};

TEST(LoaderWorkers, MakeNoMoreBatchesAheadThanTheBoundHolds) {
  constexpr size_t kBatch = 10 * (1000 * 4 + sizeof(SampleKey));
  for (int workers : {1, 3}) {
    auto source = std::make_shared<CountingSource>();
    DataLoader loader(Dataset(source),
                      {.batch_size = 10, .workers = workers, .prefetch_bytes = 4 * kBatch + 1});
    int taken = 0;
    int most_ahead = 0;
    for ([[maybe_unused]] auto& batch : loader) {
      ++taken;
      if (taken < 5) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      most_ahead = std::max(most_ahead, source->gathers.load() - taken);
    }
    EXPECT_EQ(taken, 40);
    EXPECT_LE(most_ahead, 4);
    EXPECT_GE(most_ahead, 1) << "nothing was made ahead";
  }
}

TEST(LoaderWorkers, ABatchLargerThanTheBoundGetsThrough) {
  DataLoader loader(numbered(100), {.batch_size = 50, .workers = 2, .prefetch_bytes = 1});
  int64_t samples = 0;
  for (auto& batch : loader) samples += batch.size;
  EXPECT_EQ(samples, 100);
}

}  // namespace
}  // namespace thalweg::data
