// A DataLoader whose batches come from a minibatch source.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/loader.h>
#include <thalweg/data/memory.h>

#include "base/expect_error.h"
#include "data/numbered_corpus.h"
#include "data/threads_of_process.h"

namespace thalweg::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

DataLoader numbers(int64_t n, MinibatchSourceOptions options, int64_t batch_size) {
  options.max_sweeps = 0;
  return DataLoader(MinibatchSource({NumberedCorpus::of(n, 6)}, options),
                    {.batch_size = batch_size});
}

std::vector<std::vector<int64_t>> pass_of(DataLoader& loader) {
  std::vector<std::vector<int64_t>> all;
  for (const Batch& batch : loader) {
    EXPECT_EQ(batch.size, batch.label.size());
    all.push_back(batch.label.to_vector<int64_t>());
    for (size_t i = 0; i < all.back().size(); ++i)
      EXPECT_EQ(batch.samples()[i].index, all.back()[i]);
  }
  return all;
}

TEST(SourceLoader, APassIsASweep) {
  for (SweepEnd end : {SweepEnd::join, SweepEnd::cross, SweepEnd::drop}) {
    for (int workers : {0, 2}) {
      DataLoader loader = numbers(20, {.seed = 1, .sweep_end = end, .workers = workers}, 8);
      std::vector<std::vector<int64_t>> passes[3];
      for (int epoch = 0; epoch < 3; ++epoch) {
        EXPECT_EQ(loader.epoch(), epoch);
        passes[epoch] = pass_of(loader);
      }
      EXPECT_NE(passes[0], passes[1]);
      EXPECT_EQ(passes[0].size(), end == SweepEnd::drop ? 2u : 3u);
      EXPECT_EQ(flat(passes[0]).size(), end == SweepEnd::join   ? 20u
                                        : end == SweepEnd::drop ? 16u
                                                                : 24u);
      // Any of them again.
      if (end == SweepEnd::cross) continue;
      loader.set_epoch(1);
      EXPECT_EQ(pass_of(loader), passes[1]);
    }
  }
}

TEST(SourceLoader, GoesOnFromItsState) {
  const MinibatchSourceOptions options{.seed = 1, .workers = 2};
  DataLoader whole = numbers(20, options, 3);
  const auto first = pass_of(whole);
  const auto second = pass_of(whole);
  DataLoader loader = numbers(20, options, 3);
  LoaderState state;
  for (const Batch& batch : loader) {
    if (batch.label.to_vector<int64_t>() != first[3]) continue;
    state = loader.state();
    break;
  }
  DataLoader other = numbers(20, {.seed = 9, .workers = 0}, 3);
  other.restore(state);
  const auto rest = pass_of(other);
  EXPECT_EQ(rest, std::vector(first.begin() + 4, first.end()));
  EXPECT_EQ(pass_of(other), second);
  // The pass that was left early is over.
  EXPECT_EQ(loader.state(), state);
  EXPECT_EQ(pass_of(loader), second);
}

TEST(SourceLoader, LeavingAPassEndsItsThreads) {
  DataLoader loader = numbers(2000, {.seed = 1, .workers = 4}, 3);
  const NoNewThreads threads;
  for (const Batch& batch : loader) {
    if (batch.size > 0) break;
  }
  threads.check();
}

TEST(SourceLoader, ChoosesDataAndLabelByName) {
  const MemoryDeserializer memory(
      {{"a", Tensor::of<float>({1, 2}, {2, 1})},
       {"b", CsrTensor{Tensor::of<float>({1, 1}), Tensor::of<int32_t>({2, 0}),
                       Tensor::of<int64_t>({0, 1, 2}), Shape{2, 3}}},
       {"c", Tensor::of<int64_t>({5, 6})}});
  const auto make = [&](SourceLoaderOptions options) {
    return DataLoader(MinibatchSource({memory}, {.randomize = false, .max_sweeps = 0}), options);
  };
  DataLoader loader = make({.data = "b", .label = "c"});
  EXPECT_EQ(loader.size(), 1);
  for (const Batch& batch : loader) {
    EXPECT_THAT(batch.data.to_vector<float>(), ElementsAre(0, 0, 1, 1, 0, 0));
    EXPECT_THAT(batch.label.to_vector<int64_t>(), ElementsAre(5, 6));
    EXPECT_THAT(batch["a"].to_vector<float>(), ElementsAre(1, 2));
  }
  DataLoader plain = make({});
  EXPECT_EQ(plain.begin()->label.shape(), (Shape{2, 3}));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { make({.data = "d"}); }),
              AllOf(HasSubstr("'d'"), HasSubstr("'a', 'b', 'c'")));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { make({.data = "c", .label = "c"}); }),
              HasSubstr("'c' is data and label"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { DataLoader(MinibatchSource({memory})); }),
              HasSubstr("max_sweeps 1"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { plain.dataset(); }), HasSubstr("no data set"));
}

}  // namespace
}  // namespace thalweg::data
