#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/nn/basic.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/index.h>
#include <thalweg/tensor/csr.h>

#include "base/expect_error.h"

namespace thalweg::nn {
namespace {

using testing::HasSubstr;

// [[0, 2, 0, 0], [1, 0, 0, 3]]
CsrTensor matrix() {
  return {Tensor::of<float>({2, 1, 3}),
          Tensor::of<int32_t>({1, 0, 3}),
          Tensor::of<int64_t>({0, 1, 3}),
          {2, 4}};
}

TEST(SparseInput, GivesWhatTheDenseOneGivesAndTellsTheLayerItsSize) {
  Sequential net{Dense(3, {.activation = relu}), LayerNorm(), Dense(2)};
  net.initialize(init::xavier(), {.seed = 3});
  EXPECT_TRUE(net.takes_sparse());
  const Tensor sparse = net(matrix());
  EXPECT_EQ(net.parameters()["0.weight"].shape(), (Shape{3, 4}));
  const std::vector<float> found = sparse.to_vector<float>(),
                           wanted = net(matrix().to_dense()).to_vector<float>();
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5);
}

TEST(SparseInput, OfOneHotRowsIsALookUpInAnEmbedding) {
  Embedding net(4, 2);
  net.initialize();
  const CsrTensor one_hot{Tensor::of<float>({1, 1, 1, 1}),
                          Tensor::of<int32_t>({3, 0, 0, 2}),
                          Tensor::of<int64_t>({0, 1, 2, 3, 4}),
                          {2, 2, 4}};
  EXPECT_EQ(net(one_hot).shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(net(one_hot).to_vector<float>(),
            net(Tensor::of<int64_t>({3, 0, 0, 2})).to_vector<float>());
}

TEST(SparseInput, IsAnErrorThatNamesTheLayerWhereNoneTakesIt) {
  Sequential net{LayerNorm(), Dense(2)};
  net.initialize();
  EXPECT_FALSE(net.takes_sparse());
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { net(matrix()); }),
              HasSubstr("LayerNorm: takes no sparse matrix of shape [2, 4]; give it x.to_dense()"));
  Dense flat(2, {.flatten = true});
  flat.initialize();
  CsrTensor deep = matrix();
  deep.shape = {1, 2, 4};
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { flat(deep); }), HasSubstr("flattened"));
}

TEST(SparseInput, IsSeenByHooksAsItsParts) {
  Dense net(2);
  net.initialize();
  size_t parts = 0;
  const HookHandle hook =
      net.add_pre_hook([&](Module&, std::span<const Tensor> inputs) { parts = inputs.size(); });
  net(matrix());
  EXPECT_EQ(parts, 3u);
}

}  // namespace
}  // namespace thalweg::nn
