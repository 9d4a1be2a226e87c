#pragma once

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// Matrix product of the last two axes, [..., M, K] @ [..., K, N] -> [..., M, N]; the other axes
/// broadcast. A 1-d operand is a row (left) or a column (right), and its axis is dropped. Halves
/// are summed in f32.
THALWEG_API Tensor matmul(const Tensor& a, const Tensor& b);

/// x [..., K] times the transpose of weight [N, K], plus bias [N] if it is defined -> [..., N].
THALWEG_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace thalweg
