#pragma once

// Losses: small function objects, `nn::HuberLoss{.rho = 2}(pred, label)`.
//
// Every loss gives one value per sample, [N]: the mean over all axes but the first, as in Gluon;
// nothing is averaged over the batch, that is what trainer.step(batch_size) does. Where a loss is
// a sum instead it says so. Predictions and labels have one shape but for axes of size 1, and their
// number of elements is equal: [N, 1] and [N] fit, nothing is broadcast. Labels are converted to
// the predictions' dtype.
//
// `sample_weight`, if defined, multiplies the elements before the mean: [N], or the loss's first
// axes. It is a factor only: the mean is not divided by the sum of the weights.
//
// Throws Error{invalid} with both shapes where they do not fit. Formulas are those of Gluon
// (apache/mxnet python/mxnet/gluon/loss.py) unless another source is named.

#include <thalweg/ops/softmax.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::nn {

/// The mean over all axes but the first of loss [N, ...] times sample_weight. For losses of your
/// own.
THALWEG_API Tensor mean_per_sample(const Tensor& loss, const Tensor& sample_weight = {});

/// (label - pred)^2 / 2.
struct THALWEG_API L2Loss {
  Tensor operator()(const Tensor& pred, const Tensor& label,
                    const Tensor& sample_weight = {}) const;
};

/// |label - pred|.
struct THALWEG_API L1Loss {
  Tensor operator()(const Tensor& pred, const Tensor& label,
                    const Tensor& sample_weight = {}) const;
};

/// With e = |label - pred|: e^2 / (2 rho) up to rho, e - rho / 2 from there on.
struct THALWEG_API HuberLoss {
  double rho = 1;  ///< > 0

  Tensor operator()(const Tensor& pred, const Tensor& label,
                    const Tensor& sample_weight = {}) const;
};

/// max(margin - pred label, 0), squared if asked for; labels are -1 or 1.
struct THALWEG_API HingeLoss {
  double margin = 1;
  bool squared = false;

  Tensor operator()(const Tensor& pred, const Tensor& label,
                    const Tensor& sample_weight = {}) const;
};

/// thalweg::softmax_cross_entropy of logits [N, C, ...] or [N, ..., C], then the mean over the
/// positions of a sample. Ignored positions count as 0 and are part of the divisor.
struct THALWEG_API SoftmaxCrossEntropyLoss {
  SoftmaxCrossEntropyOptions options = {};

  Tensor operator()(const Tensor& pred, const Tensor& label,
                    const Tensor& sample_weight = {}) const;
};

/// The mean cross entropy of all tokens that have a label, over the whole batch: without
/// dimensions. Logits [N, T, C]; labels are integers [N, T], kNoToken where there is none, or
/// distributions [N, T, C], zeros where there is none. 0 if no token has one.
struct THALWEG_API TokenCrossEntropyLoss {
  static constexpr int64_t kNoToken = -1;
  double label_smoothing = 0;

  Tensor operator()(const Tensor& pred, const Tensor& label) const;
};

/// thalweg::sigmoid_cross_entropy of logits, element by element; labels are between 0 and 1.
struct THALWEG_API SigmoidCrossEntropyLoss {
  Tensor pos_weight = {};  ///< factor of the positive part, broadcast to pred; 1 if undefined

  Tensor operator()(const Tensor& pred, const Tensor& label,
                    const Tensor& sample_weight = {}) const;
};

/// label (log(label) - pred), 0 where the label is 0; `pred` are log-probabilities. Mean as all
/// others (MXNet 1.9.1 summed; PyTorch's "batchmean" is C times this for pred [N, C]).
struct THALWEG_API KLDivLoss {
  /// Pred are logits: log_softmax along `axis` is applied first.
  bool from_logits = false;
  int64_t axis = -1;

  Tensor operator()(const Tensor& pred, const Tensor& label,
                    const Tensor& sample_weight = {}) const;
};

/// 1 - cos(a, b) where the label is 1, max(cos(a, b) - margin, 0) where it is -1; cos over all axes
/// but the first: a, b [N, ...], label [N]. 1e-12 is added to the squared lengths, as PyTorch does.
struct THALWEG_API CosineEmbeddingLoss {
  double margin = 0;

  Tensor operator()(const Tensor& a, const Tensor& b, const Tensor& label,
                    const Tensor& sample_weight = {}) const;
};

/// max(sum((positive - anchor)^2 - (negative - anchor)^2) + margin, 0), the sum over all axes but
/// the first.
struct THALWEG_API TripletLoss {
  double margin = 1;

  Tensor operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                    const Tensor& sample_weight = {}) const;
};

}  // namespace thalweg::nn
