// How sequences come to lie in the tensors of a minibatch.

#include <algorithm>
#include <cmath>

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

Tensor f32(std::vector<float> values, const Shape& shape) { return Tensor::of(values, shape); }

/// Three sequences of 2, 1 and 3 samples of two values, and rows of a sparse stream for the same.
std::vector<MemoryStream> three_sequences() {
  const Tensor x = f32({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {6, 2});
  const CsrTensor s{f32({1, 2, 3, 4, 5}, {5}), Tensor::of<int32_t>({0, 4, 2, 1, 3}),
                    Tensor::of<int64_t>({0, 2, 2, 3, 4, 4, 5}), Shape{6, 5}};
  return {{"x", x, {2, 1, 3}}, {"s", s, {2, 1, 3}}, {"y", Tensor::of<int64_t>({7, 8, 9})}};
}

TEST(Packing, SamplesLieOneAfterTheOther) {
  MinibatchSource source({MemoryDeserializer(three_sequences())}, {.randomize = false});
  const Minibatch mb = source.next_minibatch(6);
  EXPECT_EQ(mb["x"].shape(), (Shape{6, 2}));
  EXPECT_THAT(mb["x"].to_vector<float>(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_THAT(mb.lengths("x").to_vector<int64_t>(), ElementsAre(2, 1, 3));
  EXPECT_THAT(mb.lengths("y").to_vector<int64_t>(), ElementsAre(1, 1, 1));
  EXPECT_EQ(mb.num_samples, 6);
  EXPECT_EQ(mb.num_sequences, 3);
  const CsrTensor& s = mb.csr("s");
  EXPECT_EQ(s.shape, (Shape{6, 5}));
  EXPECT_THAT(s.row_starts.to_vector<int64_t>(), ElementsAre(0, 2, 2, 3, 4, 4, 5));
  EXPECT_THAT(s.columns.to_vector<int32_t>(), ElementsAre(0, 4, 2, 1, 3));
  EXPECT_EQ(mb["s"].shape(), (Shape{6, 5}));
  EXPECT_THAT(mb["s"].to_vector<float>(), ElementsAre(1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0,
                                                      0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { mb.csr("x"); }), HasSubstr("not sparse"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { mb.mask("x"); }), HasSubstr("no mask"));
}

TEST(Packing, PaddedSequencesHaveLengthsAndAMask) {
  MinibatchSource source({MemoryDeserializer(three_sequences())},
                         {.randomize = false, .packing = Packing::padded});
  const Minibatch mb = source.next_minibatch(6);
  EXPECT_EQ(mb["x"].shape(), (Shape{3, 3, 2}));
  EXPECT_THAT(mb["x"].to_vector<float>(),
              ElementsAre(1, 2, 3, 4, 0, 0, 5, 6, 0, 0, 0, 0, 7, 8, 9, 10, 11, 12));
  EXPECT_THAT(mb.lengths("x").to_vector<int64_t>(), ElementsAre(2, 1, 3));
  EXPECT_EQ(mb.mask("x").shape(), (Shape{3, 3}));
  EXPECT_THAT(mb.mask("x").to_vector<uint8_t>(), ElementsAre(2, 1, 0, 2, 0, 0, 2, 1, 1));
  EXPECT_EQ(mb["y"].shape(), (Shape{3, 1}));
  EXPECT_EQ(mb.csr("s").shape, (Shape{3, 3, 5}));
  EXPECT_THAT(mb.csr("s").row_starts.to_vector<int64_t>(),
              ElementsAre(0, 2, 2, 2, 3, 3, 3, 4, 4, 5));
  EXPECT_EQ(mb["s"].shape(), (Shape{3, 3, 5}));
}

// The values are number + 0.001 * sample; here x 1000.
std::vector<int64_t> thousandths(const Tensor& tensor) {
  std::vector<int64_t> all;
  for (float value : tensor.to_vector<float>()) all.push_back(std::lround(value * 1000));
  return all;
}

TEST(Packing, TruncatedSlotsGoOnInTheNextMinibatch) {
  // Sequences 1 to 4 of 5, 2, 3 and 1 samples, in two slots of three.
  std::vector<Tensor> sequences;
  const int64_t lengths[] = {5, 2, 3, 1};
  for (int64_t i = 0; i < 4; ++i) {
    std::vector<float> values;
    for (int64_t t = 0; t < lengths[i]; ++t)
      values.push_back(static_cast<float>(i + 1) + 0.001f * static_cast<float>(t));
    sequences.push_back(Tensor::of(values));
  }
  const auto make = [&](int64_t rank, int64_t world_size) {
    return MinibatchSource({MemoryDeserializer({{"x", sequences}})}, {.randomize = false,
                                                                      .packing = Packing::truncated,
                                                                      .truncation = 3,
                                                                      .rank = rank,
                                                                      .world_size = world_size});
  };
  MinibatchSource source = make(0, 1);
  const Minibatch first = source.next_minibatch(6);
  EXPECT_EQ(first["x"].shape(), (Shape{2, 3}));
  EXPECT_THAT(thousandths(first["x"]), ElementsAre(1000, 1001, 1002, 2000, 2001, 3000));
  EXPECT_THAT(first.mask("x").to_vector<uint8_t>(), ElementsAre(2, 1, 1, 2, 1, 2));
  EXPECT_THAT(first.lengths("x").to_vector<int64_t>(), ElementsAre(3, 3));
  const Minibatch second = source.next_minibatch(6);
  EXPECT_THAT(thousandths(second["x"]), ElementsAre(1003, 1004, 4000, 3001, 3002, 0));
  EXPECT_THAT(second.mask("x").to_vector<uint8_t>(), ElementsAre(1, 1, 2, 1, 1, 0));
  EXPECT_THAT(second.lengths("x").to_vector<int64_t>(), ElementsAre(3, 2));
  EXPECT_FALSE(first.end_of_sweep);
  EXPECT_TRUE(second.end_of_sweep);
  EXPECT_FALSE(source.next_minibatch(6));
  // Two ranks have a slot each.
  MinibatchSource other = make(1, 2);
  EXPECT_THAT(thousandths(other.next_minibatch(6)["x"]), ElementsAre(2000, 2001, 3000));
  EXPECT_THAT(thousandths(other.next_minibatch(6)["x"]), ElementsAre(3001, 3002, 0));
}

TEST(Packing, TruncatedSequencesNeedTheSameLengthInAllStreams) {
  NumberedCorpus corpus = NumberedCorpus::of(10, 5);
  corpus.options().length = [](int64_t) { return 3; };
  MinibatchSource source({corpus}, {.packing = Packing::truncated, .truncation = 2});
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { source.next_minibatch(4); }),
              AllOf(HasSubstr("stream 'id'"), HasSubstr("numbers:")));
}

TEST(Packing, BucketsHoldSequencesOfAboutTheSameLength) {
  NumberedCorpus corpus = NumberedCorpus::of(200, 50);
  corpus.options().length = [](int64_t i) { return 1 + i * 37 % 40; };
  const auto padding = [&](int64_t bucket) {
    MinibatchSource source({corpus}, {.seed = 1,
                                      .size_unit = SizeUnit::sequences,
                                      .packing = Packing::padded,
                                      .bucket_sequences = bucket});
    int64_t padded = 0;
    std::vector<int64_t> ids;
    while (auto mb = source.next_minibatch(10)) {
      padded += mb["x"].size() - mb.num_samples;
      for (int64_t id : ids_of(mb)) ids.push_back(id);
    }
    std::ranges::sort(ids);
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], static_cast<int64_t>(i));
    EXPECT_EQ(ids.size(), 200u);
    return padded;
  };
  EXPECT_LT(padding(100) * 5, padding(0));
}

TEST(Packing, BucketsAreSharedByRanks) {
  NumberedCorpus corpus = NumberedCorpus::of(60, 20);
  corpus.options().length = [](int64_t i) { return 1 + i % 7; };
  std::vector<int64_t> ids;
  for (int64_t rank = 0; rank < 3; ++rank) {
    MinibatchSource source({corpus},
                           {.seed = 1, .bucket_sequences = 25, .rank = rank, .world_size = 3});
    for (int64_t id : flat(rest_of(source, 20))) ids.push_back(id);
  }
  std::ranges::sort(ids);
  ASSERT_EQ(ids.size(), 60u);
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], static_cast<int64_t>(i));
}

TEST(Packing, TransformsSeeEachSequenceWithNumbersOfItsOwn) {
  const auto run = [](int workers, Packing packing, int64_t size) {
    NumberedCorpus corpus = NumberedCorpus::of(30, 7);
    corpus.options().length = [](int64_t i) { return 1 + i % 3; };
    const Transform noise = each([](const Tensor& sample, Philox& random) {
      return Tensor::of<float>({sample.data<float>()[0], random.uniform()});
    });
    MinibatchSource source({corpus}, {.seed = 4,
                                      .max_sweeps = 2,
                                      .packing = packing,
                                      .workers = workers,
                                      .transforms = {{{"x"}, {noise}}}});
    EXPECT_EQ(source.streams()[0].shape, (Shape{2}));
    std::vector<std::pair<float, float>> all;
    while (auto mb = source.next_minibatch(size)) {
      const auto values = mb["x"].to_vector<float>();
      for (size_t i = 0; i < values.size(); i += 2)
        if (values[i + 1] != 0) all.emplace_back(values[i], values[i + 1]);
    }
    return all;
  };
  const auto expected = run(0, Packing::samples, 10);
  EXPECT_EQ(expected.size(), 2u * 60);
  EXPECT_EQ(run(3, Packing::samples, 10), expected);
  EXPECT_EQ(run(1, Packing::samples, 7), expected);
  EXPECT_EQ(run(2, Packing::padded, 10), expected);
  // All samples of a sequence have the same: a film is cropped in one place.
  for (size_t i = 1; i < expected.size(); ++i) {
    if (std::floor(expected[i].first) == std::floor(expected[i - 1].first)) {
      EXPECT_EQ(expected[i].second, expected[i - 1].second);
    }
  }
  // Another sweep has other numbers.
  EXPECT_NE(expected[0].second, expected[60].second);
}

/// Pictures whose sizes differ: number i is [1, 2 + i, 3].
class Pictures : public Deserializer {
 public:
  std::string name() const override { return "pictures"; }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  bool has_chunk(int64_t chunk) const override { return chunk == 0; }
  int64_t chunks() const override { return 1; }
  ChunkInfo chunk(int64_t) const override { return {.sequences = 3}; }
  std::shared_ptr<const Chunk> load(int64_t, const Wanted&) const override {
    class All : public Chunk {
      size_t bytes() const override { return 0; }
      int64_t length(int64_t) const override { return 1; }
      std::string where(int64_t i) const override { return std::to_string(i) + ".jpg"; }
      StreamValues read(int64_t i, size_t, const SequenceDraw&) const override {
        auto pixels = std::make_shared<std::vector<uint8_t>>((2 + i) * 3, uint8_t(i + 1));
        return {.samples = 1, .values = pixels->data(), .shape = {1, 2 + i, 3}, .owner = pixels};
      }
    };
    return std::make_shared<All>();
  }

 private:
  std::vector<StreamInfo> streams_{{"image", DType::u8, {1, -1, 3}}};
};

TEST(Packing, SizesThatDifferAreMadeEqualByTransforms) {
  MinibatchSource source(
      {Pictures()}, {.randomize = false,
                     .transforms = {{{"image"}, {random_crop({.height = 2}), cast(DType::f32)}}}});
  EXPECT_EQ(source.streams()[0].shape, (Shape{1, 2, 3}));
  EXPECT_EQ(source.streams()[0].dtype, DType::f32);
  const Minibatch mb = source.next_minibatch(3);
  EXPECT_EQ(mb["image"].shape(), (Shape{3, 1, 2, 3}));
  EXPECT_THAT(mb["image"].to_vector<float>(),
              ElementsAre(1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3));

  MinibatchSource raw({Pictures()}, {.randomize = false});
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { raw.next_minibatch(3); }),
              AllOf(HasSubstr("'image'"), HasSubstr("[1, 2, 3]"), HasSubstr("[1, 3, 3]")));
  EXPECT_EQ(raw.streams()[0].shape, (Shape{1, -1, 3}));
}

TEST(Packing, TransformsOfStreamsThatAreNotThereAreErrors) {
  EXPECT_THAT(
      error_text(ErrorKind::invalid,
                 [] {
                   MinibatchSource source({Pictures()}, {.transforms = {{{"imge"}, {flatten()}}}});
                 }),
      AllOf(HasSubstr("'imge'"), HasSubstr("did you mean 'image'?")));
}

}  // namespace
}  // namespace thalweg::data
