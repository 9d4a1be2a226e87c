#include <thalweg/graph/autograd.h>
#include <thalweg/nn/basic.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/sparse.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "nn/describe.h"

namespace thalweg::nn {

Tensor Flatten::forward(const Tensor& x) {
  if (x.dims() == 0) fail_invalid("Flatten: input is 0-d; expected [N, ...]");
  return x.dims() == 1 ? reshape(x, {-1, 1}) : flatten(x, 1);
}

Lambda::Lambda(std::string name, Function function)
    : name_(std::move(name)), function_(std::move(function)) {
  if (!function_) fail_invalid("Lambda: the function of '{}' is empty", name_);
}

Dropout::Dropout(double probability, DropoutOptions options)
    : probability_(probability), shared_axes_(options.shared_axes) {
  if (!(probability >= 0 && probability < 1)) {
    fail_invalid("Dropout: probability must be in [0, 1); {}", probability);
  }
}

std::string Dropout::describe() {
  return fmt::format("Dropout({}{})", probability_,
                     shared_axes_.empty() ? "" : ", shared_axes=" + tuple_text(shared_axes_));
}

Tensor Dropout::forward(const Tensor& x) {
  if (shared_axes_.empty()) return dropout(x, probability_);
  if (!is_training()) return x;
  Shape shape = x.shape();
  for (int64_t axis : shared_axes_) shape[normalize_axis("Dropout", axis, shape.size())] = 1;
  return x * dropout(Tensor::ones(shape, {x.dtype(), x.device()}), probability_);
}

Embedding::Embedding(int64_t count, int64_t units, EmbeddingOptions options)
    : padding_(options.padding), sparse_grad_(options.sparse_grad) {
  if (count < 1 || units < 1) {
    fail_invalid("Embedding: count and units must be positive; {}, {}", count, units);
  }
  weight =
      Parameter({count, units}, {.init = std::move(options.weight_init), .dtype = options.dtype});
}

std::string Embedding::describe() {
  return fmt::format("Embedding({} -> {}, {}{})", weight.shape()[0], weight.shape()[1],
                     name(weight.dtype()), sparse_grad_ ? ", sparse_grad=true" : "");
}

Tensor Embedding::forward(const Tensor& indices) {
  if (is_floating(indices.dtype())) return matmul(indices, weight.data());
  const Tensor rows = embedding(indices, weight.data(),
                                sparse_grad_ ? EmbeddingGradient::rows : EmbeddingGradient::dense);
  if (padding_ < 0) return rows;
  return rows * expand_dims(indices != padding_, -1).to(rows.dtype());
}

Tensor Embedding::forward_sparse(const CsrTensor& x) { return matmul(x, weight.data()); }

void Residual::members(Members& m) {
  m("body", *body_);
  if (shortcut_) m("shortcut", *shortcut_);
}

Tensor Residual::forward(const Tensor& x) {
  Tensor y = (*body_)(x) + (shortcut_ ? (*shortcut_)(x) : x);
  return activation_ ? activation_(y) : y;
}

}  // namespace thalweg::nn
