#include <thalweg/nn/loss.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"

namespace thalweg::nn {
namespace {

Shape without_ones(const Shape& shape) {
  Shape kept;
  for (int64_t size : shape) {
    if (size != 1) kept.push_back(size);
  }
  return kept;
}

void require_batch(const char* loss, const Tensor& pred) {
  if (pred.dims() == 0) fail_invalid("{}: pred is 0-d; expected [N, ...]", loss);
}

// `other` in the shape and dtype of pred.
Tensor fitted(const char* loss, const char* role, const Tensor& other, const Tensor& pred) {
  require_batch(loss, pred);
  if (without_ones(other.shape()) != without_ones(pred.shape())) {
    fail_invalid("{}: {} {} does not fit pred {}", loss, role, to_string(other.shape()),
                 to_string(pred.shape()));
  }
  const Tensor shaped = other.shape() == pred.shape() ? other : reshape(other, pred.shape());
  return shaped.dtype() == pred.dtype() ? shaped : shaped.to(pred.dtype());
}

Dims all_but_first(const Tensor& x) {
  Dims axes;
  for (int64_t i = 1; i < x.dims(); ++i) axes.push_back(i);
  return axes;
}

Tensor sum_per_sample(const Tensor& x) { return x.dims() == 1 ? x : sum(x, all_but_first(x)); }

// The weight with axes of size 1 behind its own, so that it broadcasts to the loss.
Tensor aligned_weight(const Tensor& weight, const Tensor& loss) {
  bool fits = weight.dims() <= loss.dims();
  Shape shape = weight.shape();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] == loss.shape()[i] || (i > 0 && shape[i] == 1);
  }
  if (!fits || shape.empty()) {
    fail_invalid("loss: sample_weight {} does not fit the first axes of the loss {}",
                 to_string(shape), to_string(loss.shape()));
  }
  while (shape.size() < loss.shape().size()) shape.push_back(1);
  const Tensor shaped = shape == weight.shape() ? weight : reshape(weight, shape);
  return shaped.dtype() == loss.dtype() ? shaped : shaped.to(loss.dtype());
}

}  // namespace

Tensor mean_per_sample(const Tensor& loss, const Tensor& sample_weight) {
  require_batch("mean_per_sample", loss);
  const Tensor weighted =
      sample_weight.defined() ? loss * aligned_weight(sample_weight, loss) : loss;
  return weighted.dims() == 1 ? weighted : mean(weighted, all_but_first(weighted));
}

Tensor L2Loss::operator()(const Tensor& pred, const Tensor& label,
                          const Tensor& sample_weight) const {
  return mean_per_sample(0.5 * square(fitted("L2Loss", "label", label, pred) - pred),
                         sample_weight);
}

Tensor L1Loss::operator()(const Tensor& pred, const Tensor& label,
                          const Tensor& sample_weight) const {
  return mean_per_sample(abs(fitted("L1Loss", "label", label, pred) - pred), sample_weight);
}

// With c = min(e, rho) both pieces are c (e - c / 2) / rho, which has no branch to differentiate.
Tensor HuberLoss::operator()(const Tensor& pred, const Tensor& label,
                             const Tensor& sample_weight) const {
  if (!(rho > 0)) fail_invalid("HuberLoss: rho must be positive; {}", rho);
  const Tensor e = abs(fitted("HuberLoss", "label", label, pred) - pred);
  const Tensor c = minimum(e, rho);
  return mean_per_sample(c * (e - 0.5 * c) / rho, sample_weight);
}

Tensor HingeLoss::operator()(const Tensor& pred, const Tensor& label,
                             const Tensor& sample_weight) const {
  const Tensor short_of = relu(margin - pred * fitted("HingeLoss", "label", label, pred));
  return mean_per_sample(squared ? square(short_of) : short_of, sample_weight);
}

Tensor SoftmaxCrossEntropyLoss::operator()(const Tensor& pred, const Tensor& label,
                                           const Tensor& sample_weight) const {
  return mean_per_sample(softmax_cross_entropy(pred, label, options), sample_weight);
}

Tensor TokenCrossEntropyLoss::operator()(const Tensor& pred, const Tensor& label) const {
  const bool sparse = !is_floating(label.dtype());
  SoftmaxCrossEntropyOptions options{.label_smoothing = label_smoothing};
  if (sparse) options.ignore_label = kNoToken;
  const Tensor target = sparse ? label : label.to(pred.dtype());
  // A distribution of zeros is no label, and smoothed it would be one.
  const Tensor counts = (sparse ? label != kNoToken : any(label != 0, {-1})).to(pred.dtype());
  const Tensor loss = softmax_cross_entropy(pred, target, options) * counts;
  return sum(loss) / maximum(sum(counts), 1);
}

Tensor SigmoidCrossEntropyLoss::operator()(const Tensor& pred, const Tensor& label,
                                           const Tensor& sample_weight) const {
  const Tensor target = fitted("SigmoidCrossEntropyLoss", "label", label, pred);
  return mean_per_sample(sigmoid_cross_entropy(pred, target, pos_weight), sample_weight);
}

Tensor KLDivLoss::operator()(const Tensor& pred, const Tensor& label,
                             const Tensor& sample_weight) const {
  const Tensor q = fitted("KLDivLoss", "label", label, pred);
  const Tensor log_p = from_logits ? log_softmax(pred, axis) : pred;
  const Tensor present = q > 0;
  const Tensor loss = where(present, q * (log(where(present, q, 1)) - log_p), 0);
  return mean_per_sample(loss, sample_weight);
}

Tensor CosineEmbeddingLoss::operator()(const Tensor& a, const Tensor& b, const Tensor& label,
                                       const Tensor& sample_weight) const {
  constexpr double kEpsilon = 1e-12;
  const Tensor other = fitted("CosineEmbeddingLoss", "b", b, a);
  const Tensor squares =
      (sum_per_sample(square(a)) + kEpsilon) * (sum_per_sample(square(other)) + kEpsilon);
  const Tensor cosine = sum_per_sample(a * other) / sqrt(squares);
  const Tensor alike = fitted("CosineEmbeddingLoss", "label", label, cosine) > 0;
  return mean_per_sample(where(alike, 1 - cosine, relu(cosine - margin)), sample_weight);
}

Tensor TripletLoss::operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                               const Tensor& sample_weight) const {
  const Tensor near = fitted("TripletLoss", "positive", positive, anchor);
  const Tensor far = fitted("TripletLoss", "negative", negative, anchor);
  const Tensor excess = sum_per_sample(square(near - anchor) - square(far - anchor));
  return mean_per_sample(relu(excess + margin), sample_weight);
}

}  // namespace thalweg::nn
