#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/memory.h>
#include <thalweg/data/minibatch_source.h>
#include <thalweg/data/weights.h>

#include "base/expect_error.h"

namespace thalweg::data {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Weights, ClassesAreReadFromIntegersRowsAndSparseRows) {
  const MemoryDeserializer data(
      {{"i", Tensor::of<int64_t>({2, 0, 1})},
       {"d", Tensor::of<float>({0, 0, 1, 1, 0, 0, 0, 1, 0}, {3, 3})},
       {"s", CsrTensor{Tensor::of<float>({1, 1, 1}), Tensor::of<int32_t>({2, 0, 1}),
                       Tensor::of<int64_t>({0, 1, 2, 3}), Shape{3, 3}}},
       {"bad", Tensor::of<int64_t>({0, -2, 0})}});
  for (const char* stream : {"i", "d", "s"})
    EXPECT_THAT(read_classes(data, stream), ElementsAre(2, 0, 1)) << stream;
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { read_classes(data, "bad"); }),
              HasSubstr("-2 is no class; sequence 1"));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { read_classes(data, "x"); }),
              HasSubstr("'i', 'd', 's', 'bad'"));
}

// scikit-learn's compute_class_weight("balanced", ...) of the same labels.
TEST(Weights, RareClassesWeighMore) {
  const std::vector<int64_t> classes{0, 0, 0, 0, 0, 0, 1, 1, 3, -1};
  EXPECT_THAT(class_weights(classes), ElementsAre(DoubleEq(0.5), DoubleEq(1.5), 0, DoubleEq(3)));
  EXPECT_THAT(balanced_weights(classes),
              ElementsAre(DoubleEq(1 / 6.), DoubleEq(1 / 6.), DoubleEq(1 / 6.), DoubleEq(1 / 6.),
                          DoubleEq(1 / 6.), DoubleEq(1 / 6.), 0.5, 0.5, 1, 0));
}

TEST(Weights, BalancedDrawsGiveAllClassesEquallyOften) {
  std::vector<int64_t> labels(1000, 0);
  for (size_t i = 0; i < 50; ++i) labels[i * 20] = 1;
  const MemoryDeserializer data({{"label", Tensor::of(labels)}});
  MinibatchSource source({data},
                         {.seed = 3, .weights = balanced_weights(read_classes(data, "label"))});
  int64_t ones = 0;
  while (auto mb = source.next_minibatch(100))
    for (int64_t label : mb["label"].to_vector<int64_t>()) ones += label;
  EXPECT_NEAR(static_cast<double>(ones), 500, 64);  // four standard deviations
}

}  // namespace
}  // namespace thalweg::data
