#include "ops/attention.h"

#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/attention.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"
#include "kernels/simd_targets.h"

namespace thalweg {
namespace {

constexpr Tolerance kTolerance{3e-5, 3e-5};

struct Sizes {
  int64_t heads, kv_heads, queries, keys, size, value_size;
};

// Queries cut out of one array of all three, as a layer has them, and keys of their own.
void expect_agree(const Sizes& n, const AttentionAttrs& a, const Tensor& mask = {}) {
  SCOPED_TRACE(std::to_string(n.queries) + " queries, " + std::to_string(n.keys) + " keys");
  const Tensor joined = random_uniform({2, n.queries, 3, n.heads, n.size}, -1, 1);
  const Tensor q = permute(squeeze(slice(joined, 2, 1, 2), {2}), {0, 2, 1, 3});
  const Tensor k = random_uniform({2, n.kv_heads, n.keys, n.size}, -1, 1);
  const Tensor v = random_uniform({2, n.kv_heads, n.keys, n.value_size}, -1, 1);
  EXPECT_EQ(expect_kernels_agree("attention", &a, {q, k, v, mask}, kTolerance), 1);
  const TensorImpl* const in[] = {q.impl(), k.impl(), v.impl(), mask.impl()};
  const std::vector<Tensor> results = call_many(find_op("attention"), &a, in);
  const Tensor g = random_uniform(results[0].shape(), -1, 1);
  EXPECT_EQ(expect_kernels_agree("attention_vjp", &a, {g, q, k, v, results[0], results[1], mask},
                                 kTolerance),
            1);
}

TEST(TiledAttention, AgreesWithTheReferenceWhereTilesEnd) {
  manual_seed(3);
  for_each_simd_target([] {
    for (const int64_t keys : {1, 2, 31, 127, 128, 129, 300}) {
      for (const int64_t queries : {1, 31, 32, 33, 70}) {
        for (const bool causal : {false, true}) {
          expect_agree({2, 2, queries, keys, 8, 8}, {causal, 0.35});
        }
      }
    }
  });
}

TEST(TiledAttention, AgreesWithTheReferenceForEverySizeOfAHead) {
  manual_seed(4);
  for (const int64_t size : {1, 3, 16, 17, 64, 100}) {
    for (const int64_t value_size : {1, 5, 32}) {
      expect_agree({4, 2, 40, 140, size, value_size}, {true, 0.3});
    }
  }
}

TEST(TiledAttention, AgreesWithTheReferenceUnderMasks) {
  manual_seed(5);
  const Tensor added = random_uniform({2, 1, 50, 140}, -2, 2);
  const Tensor seen = random_uniform({4, 50, 140}, -1, 1) > 0;
  for (const bool causal : {false, true}) {
    expect_agree({4, 1, 50, 140, 8, 6}, {causal, 0.5}, added);
    expect_agree({4, 2, 50, 140, 8, 6}, {causal, 0.5}, seen);
    expect_agree({4, 4, 50, 140, 8, 6}, {causal, -0.5}, slice(seen, 1, 0, 1));
    expect_agree({4, 4, 50, 140, 8, 6}, {causal, 0.5}, flip(seen, {2}));
  }
}

}  // namespace
}  // namespace thalweg
