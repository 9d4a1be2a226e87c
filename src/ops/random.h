#pragma once

// What the kernels of random rows read. Element i (row-major) draws from block offset + i / 4 of
// the seed's sequence, or offset + i / 2 where it takes two words: f64 values and random_integers.

#include <thalweg/base/random.h>
#include <thalweg/ops/op.h>

namespace thalweg {

/// Of rows random_uniform (a: low, b: high), random_normal (a: mean, b: deviation),
/// random_bernoulli (a: probability).
struct RandomAttrs {
  Dims shape;
  DType dtype = DType::f32;
  double a = 0;
  double b = 1;
  uint64_t seed = 0;
  uint64_t offset = 0;
  static auto fields() {
    return std::tuple{attr("shape", &RandomAttrs::shape, "of the result"),
                      attr("dtype", &RandomAttrs::dtype, "of the result"),
                      attr("a", &RandomAttrs::a, "low, mean or probability"),
                      attr("b", &RandomAttrs::b, "high or standard deviation"),
                      attr("seed", &RandomAttrs::seed, "names the sequence"),
                      attr("offset", &RandomAttrs::offset, "the first block")};
  }
};

/// Of rows random_integers and random_permutation (low 0, high the count).
struct RandomIntegerAttrs {
  Dims shape;
  DType dtype = DType::i64;
  int64_t low = 0;
  int64_t high = 1;
  uint64_t seed = 0;
  uint64_t offset = 0;
  static auto fields() {
    return std::tuple{attr("shape", &RandomIntegerAttrs::shape, "of the result"),
                      attr("dtype", &RandomIntegerAttrs::dtype, "of the result"),
                      attr("low", &RandomIntegerAttrs::low, "the smallest value"),
                      attr("high", &RandomIntegerAttrs::high, "one above the largest value"),
                      attr("seed", &RandomIntegerAttrs::seed, "names the sequence"),
                      attr("offset", &RandomIntegerAttrs::offset, "the first block")};
  }
};

struct DropoutAttrs {
  double probability = 0.5;
  uint64_t seed = 0;
  uint64_t offset = 0;
  static auto fields() {
    return std::tuple{attr("probability", &DropoutAttrs::probability, "of an element to be 0"),
                      attr("seed", &DropoutAttrs::seed, "names the sequence"),
                      attr("offset", &DropoutAttrs::offset, "the first block")};
  }
};

/// Words below it come true with the probability, to 2^-32.
inline uint64_t probability_threshold(double probability) {
  return static_cast<uint64_t>(probability * 0x1p32 + 0.5);
}

/// Takes the numbers for `count` elements of a row's result out of the default sequence.
RandomState reserve_numbers(const Op& op, int64_t count, DType dtype);

void reference_random_uniform(const KernelContext& ctx);
void reference_random_normal(const KernelContext& ctx);
void reference_random_bernoulli(const KernelContext& ctx);
void reference_random_integers(const KernelContext& ctx);
void reference_random_permutation(const KernelContext& ctx);
void reference_dropout(const KernelContext& ctx);

}  // namespace thalweg
