// Several deserializers, joined sequence by sequence.

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

MemoryDeserializer keyed(const std::string& stream, std::vector<int64_t> values,
                         std::vector<SequenceKey> keys) {
  return MemoryDeserializer({{stream, Tensor::of(values)}}, std::move(keys));
}

TEST(Composition, PairsSequencesByKey) {
  for (bool randomize : {false, true}) {
    MinibatchSource source({keyed("a", {10, 20, 30}, {uint64_t{1}, uint64_t{2}, uint64_t{3}}),
                            keyed("b", {301, 101, 201}, {uint64_t{3}, uint64_t{1}, uint64_t{2}}),
                            keyed("c", {203, 303, 103}, {uint64_t{2}, uint64_t{3}, uint64_t{1}})},
                           {.randomize = randomize});
    const Minibatch mb = source.next_minibatch(10);
    const auto a = mb["a"].to_vector<int64_t>();
    ASSERT_EQ(a.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(mb["b"].to_vector<int64_t>()[i], a[i] * 10 + 1);
      EXPECT_EQ(mb["c"].to_vector<int64_t>()[i], a[i] * 10 + 3);
    }
  }
}

TEST(Composition, PairsByTextKeys) {
  MinibatchSource source({keyed("a", {1, 2}, {std::string("x"), std::string("y")}),
                          keyed("b", {20, 10}, {std::string("y"), std::string("x")})},
                         {.randomize = false});
  const Minibatch mb = source.next_minibatch(2);
  EXPECT_THAT(mb["b"].to_vector<int64_t>(), ElementsAre(10, 20));
}

TEST(Composition, KeysWithoutPartnerOrTwiceAreErrors) {
  const auto error = [](const MemoryDeserializer& a, const MemoryDeserializer& b) {
    return error_text(ErrorKind::invalid, [&] {
      MinibatchSource source({a, b});
      source.next_minibatch(10);
    });
  };
  const auto one = keyed("a", {1, 2}, {uint64_t{1}, uint64_t{2}});
  EXPECT_THAT(error(one, keyed("b", {1, 2}, {uint64_t{1}, uint64_t{3}})),
              AllOf(HasSubstr("sequence 3"), HasSubstr("no partner")));
  EXPECT_THAT(error(one, keyed("b", {1}, {uint64_t{1}})),
              AllOf(HasSubstr("sequence 2"), HasSubstr("no partner")));
  EXPECT_THAT(error(one, keyed("b", {1, 2, 3}, {uint64_t{1}, uint64_t{2}, uint64_t{2}})),
              HasSubstr("key 2 is twice"));
  EXPECT_THAT(error(one, keyed("b", {1, 2}, {std::string("1"), std::string("2")})),
              AllOf(HasSubstr("numbers as keys"), HasSubstr("texts as keys")));
  EXPECT_THAT(error(one, MemoryDeserializer({{"b", Tensor::of<int64_t>({1, 2})}})),
              HasSubstr("no keys"));
  EXPECT_THAT(error(one, keyed("a", {1, 2}, {uint64_t{1}, uint64_t{2}})),
              HasSubstr("stream 'a' is in"));
}

TEST(Composition, WithoutKeysPairsByNumberAndVerifiesTheNumberOfSequences) {
  std::vector<int64_t> labels(53);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int64_t>(i) * 10;
  for (bool randomize : {false, true}) {
    for (int64_t rank = 0; rank < 2; ++rank) {
      MinibatchSource source(
          {NumberedCorpus::of(53, 8), MemoryDeserializer({{"label", Tensor::of(labels)}})},
          {.randomize = randomize,
           .memory_limit = size_t{64} << 10,
           .rank = rank,
           .world_size = 2});
      int64_t count = 0;
      while (auto mb = source.next_minibatch(10)) {
        const auto ids = ids_of(mb);
        for (size_t i = 0; i < ids.size(); ++i, ++count)
          EXPECT_EQ(mb["label"].to_vector<int64_t>()[i], ids[i] * 10);
      }
      EXPECT_EQ(count, rank == 0 ? 27 : 26);
    }
  }
  labels.pop_back();
  const auto read = [&](bool randomize) {
    MinibatchSource source(
        {NumberedCorpus::of(53, 8), MemoryDeserializer({{"label", Tensor::of(labels)}})},
        {.randomize = randomize});
    rest_of(source, 10);
  };
  for (bool randomize : {false, true}) {
    EXPECT_THAT(error_text(ErrorKind::invalid, [&] { read(randomize); }),
                AllOf(HasSubstr("numbers has 53"), HasSubstr("has 52")));
  }
}

// CNTK #2309: image and mask are cropped alike when they are named together, and only then.
TEST(Composition, StreamsNamedTogetherGetTheSameRandomNumbers) {
  const Tensor values = Tensor::zeros({20, 1});
  const Transform noise =
      each([](const Tensor&, Philox& random) { return Tensor::of<float>({random.uniform()}); });
  const auto run = [&](std::vector<StreamTransform> transforms) {
    MinibatchSource source(
        {MemoryDeserializer({{"image", values}}), MemoryDeserializer({{"mask", values}})},
        {.seed = 1, .transforms = std::move(transforms)});
    const Minibatch mb = source.next_minibatch(20);
    return mb["image"].to_vector<float>() == mb["mask"].to_vector<float>();
  };
  EXPECT_TRUE(run({{{"image", "mask"}, {noise}}}));
  EXPECT_FALSE(run({{{"image"}, {noise}}, {{"mask"}, {noise}}}));
}

}  // namespace
}  // namespace thalweg::data
