#pragma once

// Random tensors. Numbers come from the process's one sequence (see manual_seed in
// thalweg/base/random.h); each call takes its own part of it, and element i depends on nothing but
// the seed, that part and i: not on threads, strides or device. Gradients do not flow through drawn
// numbers.

#include <thalweg/base/random.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Evenly distributed over [low, high), in floating dtypes.
THALWEG_API Tensor random_uniform(const Shape& shape, double low = 0, double high = 1,
                                  TensorOptions options = {});
/// Normally distributed, in floating dtypes.
THALWEG_API Tensor random_normal(const Shape& shape, double mean = 0, double deviation = 1,
                                 TensorOptions options = {});
/// 1 with the given probability, else 0; of any dtype.
THALWEG_API Tensor random_bernoulli(const Shape& shape, double probability = 0.5,
                                    TensorOptions options = {});
/// As above, a probability for each element; of its dtype. Throws Error{invalid} outside 0 to 1.
THALWEG_API Tensor random_bernoulli(const Tensor& probability);
/// Integers of [low, high), each equally likely, in integer dtypes.
THALWEG_API Tensor random_integers(const Shape& shape, int64_t low, int64_t high,
                                   TensorOptions options = {DType::i64});
/// The numbers 0 .. count - 1 in random order.
THALWEG_API Tensor random_permutation(int64_t count, TensorOptions options = {DType::i64});

/// In training mode (see Record) each element is 0 with the given probability, and the others are
/// divided by 1 - probability (Srivastava et al. 2014, inverted); else x itself.
THALWEG_API Tensor dropout(const Tensor& x, double probability = 0.5);

}  // namespace thalweg
