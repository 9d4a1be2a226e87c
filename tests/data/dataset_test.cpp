#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/dataset.h>

#include "base/expect_error.h"
#include "data/sample_sets.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ArrayDataset, GathersRowsInTheOrderAsked) {
  const ArrayDataset set = numbered(5);
  EXPECT_EQ(set.size(), 5);
  const Batch batch = set.gather({3, 0, 3});
  EXPECT_EQ(batch.size, 3);
  EXPECT_EQ(batch.data.shape(), Shape({3, 2}));
  EXPECT_THAT(batch.data.to_vector<float>(), ElementsAre(3, -3, 0, 0, 3, -3));
  EXPECT_THAT(labels_of(batch), ElementsAre(3, 0, 3));
  EXPECT_EQ(batch.samples()[0].index, 3);
  EXPECT_EQ(set.gather(std::vector<int64_t>{}).data.shape(), Shape({0, 2}));
}

TEST(ArrayDataset, GivesOneSampleWithoutTheBatchAxis) {
  const Batch last = numbered(5)[-1];
  EXPECT_EQ(last.data.shape(), Shape({2}));
  EXPECT_EQ(last.label.shape(), Shape());
  EXPECT_EQ(last.label.item<int64_t>(), 4);
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { numbered(5)[5]; }),
            "dataset: there is no sample 5; arrays has 5");
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [] {
                         numbered(5).gather({1, -1});
                       }),
            "gather: there is no sample -1; there are 5");
}

TEST(ArrayDataset, NamesItsFields) {
  const ArrayDataset set({{"image", Tensor::zeros({2, 3})},
                          {"mask", Tensor::ones({2})},
                          {"weight", Tensor::of<double>({5, 6})}},
                         {"cat", "dog"});
  const Batch batch = set.gather({1});
  EXPECT_EQ(batch["weight"].item<double>(), 6);
  EXPECT_EQ(batch[2].item<double>(), 6);
  EXPECT_EQ(batch["image"].impl(), batch.data.impl());
  EXPECT_THAT(set.take(1).class_names(), ElementsAre("cat", "dog"));
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { batch["masc"]; }),
            "batch: there is no field 'masc'; there are 'image', 'mask', 'weight'; did you mean "
            "'mask'?");
}

TEST(ArrayDataset, TakesViewsThatAreNotRowMajor) {
  const Tensor base = Tensor::of<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  TensorMeta meta = base.meta();
  meta.shape = {3, 2};
  meta.strides = {1, 3};
  const ArrayDataset set(make_view(base, meta));
  EXPECT_THAT(set.gather({2, 0}).data.to_vector<int32_t>(), ElementsAre(3, 6, 1, 4));
}

TEST(ArrayDataset, RejectsTensorsThatDoNotFitTogether) {
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [] {
                         ArrayDataset(Tensor::zeros({3, 2}), Tensor::zeros({2}));
                       }),
            "ArrayDataset: numbers of samples differ; 'data' has 3, 'label' has 2");
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { ArrayDataset(Tensor::scalar(1)); }),
            "ArrayDataset: 'data' is 0-d; its first axis must be the samples");
}

TEST(Dataset, TakesSlicesAndSubsets) {
  const Dataset set = numbered(6);
  EXPECT_THAT(labels_of(set.take(2)), ElementsAre(0, 1));
  EXPECT_EQ(set.take(99).size(), 6);
  EXPECT_THAT(labels_of(set.slice(2, 5).slice(1, 3)), ElementsAre(3, 4));
  EXPECT_THAT(labels_of(set.subset({4, 1, 1})), ElementsAre(4, 1, 1));
  EXPECT_THAT(labels_of(set.filter([](const Batch& s) { return s.label.item<int>() % 2 == 1; })),
              ElementsAre(1, 3, 5));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { set.slice(2, 7); }), HasSubstr("set of 6"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { set.subset({6}); }), HasSubstr("sample 6"));
}

// Gluon's rule: the first size % count parts are one longer.
TEST(Dataset, ShardsAreDisjointAndComplete) {
  const Dataset set = numbered(10);
  EXPECT_THAT(labels_of(set.shard(0, 4)), ElementsAre(0, 1, 2));
  EXPECT_THAT(labels_of(set.shard(1, 4)), ElementsAre(3, 4, 5));
  EXPECT_THAT(labels_of(set.shard(2, 4)), ElementsAre(6, 7));
  EXPECT_THAT(labels_of(set.shard(3, 4)), ElementsAre(8, 9));
  EXPECT_EQ(numbered(2).shard(2, 3).size(), 0);
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { set.shard(4, 4); }), HasSubstr("part 4 of 4"));
}

TEST(Dataset, SplitsAtRandomWithoutOverlap) {
  const Dataset set = numbered(100);
  const auto [first, second] = set.split(0.8, 3);
  EXPECT_EQ(first.size(), 80);
  EXPECT_EQ(second.size(), 20);
  std::vector<int64_t> all = labels_of(first);
  EXPECT_NE(all.back(), 79) << "the split is not random";
  for (int64_t label : labels_of(second)) all.push_back(label);
  std::ranges::sort(all);
  EXPECT_EQ(all, labels_of(set));
  EXPECT_EQ(labels_of(set.split(0.8, 3).first), labels_of(first));
  EXPECT_NE(labels_of(set.split(0.8, 4).first), labels_of(first));
}

TEST(Dataset, ConcatPutsSetsOneAfterTheOther) {
  const Dataset set = concat({numbered(3), numbered(0), numbered(2)});
  EXPECT_THAT(labels_of(set), ElementsAre(0, 1, 2, 0, 1));
  const Batch batch = set.gather({4, 0, 3, 2});
  EXPECT_THAT(labels_of(batch), ElementsAre(1, 0, 0, 2));
  EXPECT_THAT(batch.data.to_vector<float>(), ElementsAre(1, -1, 0, 0, 0, 0, 2, -2));
  EXPECT_EQ(set.gather(std::vector<int64_t>{}).size, 0);
  EXPECT_EQ(
      error_text(ErrorKind::invalid,
                 [] {
                   concat({numbered(3), ArrayDataset(Tensor::zeros({2, 2}))});
                 }),
      "concat: fields differ: arrays has data f32 [2], label i64 [], arrays has data f32 [2]");
}

TEST(Dataset, MapCallsAFunctionForEachSample) {
  const Dataset set = numbered(4).map([](std::vector<Tensor>& fields, Philox&) {
    const int64_t label = fields[1].item<int64_t>();
    fields[0] = Tensor::of<uint8_t>({static_cast<uint8_t>(label * 10), 1, 2});
  });
  EXPECT_EQ(set.fields()[0].dtype, DType::u8);
  EXPECT_EQ(set.fields()[0].shape, Shape({3}));
  EXPECT_THAT(set.gather({3, 1}).data.to_vector<uint8_t>(), ElementsAre(30, 1, 2, 10, 1, 2));
}

TEST(Dataset, MapNamesTheSampleThatFails) {
  const auto fails_at_two = [](std::vector<Tensor>& fields, Philox&) {
    if (fields[1].item<int64_t>() == 2) throw std::runtime_error("no such file");
  };
  const Dataset set = numbered(4).map(fails_at_two);
  try {
    set.gather({1, 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "map: no such file, in sample 2 of epoch 0");
    EXPECT_THROW(std::rethrow_if_nested(error), std::runtime_error);
  }
  const Dataset uneven = numbered(4).map([](std::vector<Tensor>& fields, Philox&) {
    fields[0] = Tensor::zeros({fields[1].item<int64_t>()});
  });
  EXPECT_EQ(
      error_text(ErrorKind::invalid,
                 [&] {
                   uneven.gather({0, 3});
                 }),
      "map: the samples' values differ: the first is f32 [0], this one f32 [3], in sample 3 of "
      "epoch 0");
}

TEST(Dataset, CachedAppliesTransformsForGood) {
  int calls = 0;
  const Dataset set = numbered(5).map([&](std::vector<Tensor>&, Philox&) { ++calls; }).cached();
  const int at_first = calls;
  EXPECT_EQ(labels_of(set), labels_of(numbered(5)));
  EXPECT_EQ(calls, at_first);
}

}  // namespace
}  // namespace thalweg::data
