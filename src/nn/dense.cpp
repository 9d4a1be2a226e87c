#include <thalweg/nn/dense.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/sparse.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "nn/describe.h"

namespace thalweg::nn {

Dense::Dense(int64_t units, DenseOptions options)
    : activation_(options.activation), flatten_(options.flatten) {
  if (units < 1) fail_invalid("Dense: units must be positive; {}", units);
  if (options.in_units < 0)
    fail_invalid("Dense: in_units must not be negative; {}", options.in_units);
  weight = Parameter({units, options.in_units},
                     {.init = std::move(options.weight_init), .dtype = options.dtype});
  if (options.bias) {
    bias = Parameter({units}, {.init = std::move(options.bias_init), .dtype = options.dtype});
  }
}

std::string Dense::describe() {
  return fmt::format("Dense({} -> {}, {}{}{})", size_text(weight.shape()[1]), weight.shape()[0],
                     activation_text(activation_), bias.defined() ? "" : ", bias=false",
                     flatten_ ? ", flatten=true" : "");
}

Tensor Dense::forward(const Tensor& x) {
  return flatten_ && x.dims() != 2 ? apply_to(flatten(x, 1)) : apply_to(x);
}

Tensor Dense::forward_sparse(const CsrTensor& x) {
  if (flatten_ && x.shape.size() != 2)
    fail_invalid("Dense: a sparse input of shape {} cannot be flattened; expected [N, in_units]",
                 to_string(x.shape));
  if (!weight.has_data()) [[unlikely]] {
    if (x.shape.empty()) fail_invalid("Dense: input is 0-d; expected [..., in_units]");
    weight.infer_shape({weight.shape()[0], x.shape.back()});
  }
  Tensor y = linear(x, weight.data(), bias.data_if_defined());
  return activation_ ? activation_(y) : y;
}

Tensor Dense::apply_to(const Tensor& x) {
  if (!weight.has_data()) [[unlikely]] {
    if (x.dims() == 0) fail_invalid("Dense: input is 0-d; expected [..., in_units]");
    weight.infer_shape({weight.shape()[0], x.size(-1)});
  }
  Tensor y = linear(x, weight.data(), bias.data_if_defined());
  return activation_ ? activation_(y) : y;
}

}  // namespace thalweg::nn
