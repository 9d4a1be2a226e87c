#pragma once

// Small tensors and what becomes of them, for tests of plans.

#include <initializer_list>
#include <vector>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {

inline std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }
inline Tensor numbers(std::initializer_list<float> list) { return Tensor::of<float>(list); }

/// Gives w the gradient of sum(w * x): x.
inline void backward_of_product(const Tensor& w, const Tensor& x) {
  Tensor loss;
  {
    const Record record;
    loss = sum(w * x);
  }
  loss.backward();
}

}  // namespace thalweg
