#pragma once

// Softmax and the losses made of logits. The losses give one value per sample (or position), which
// is not averaged; see the losses of room nn.

#include <limits>

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// exp(x) / sum(exp(x)) along an axis, without overflow. Elements of -inf give 0; a row of nothing
/// but -inf (all of it masked) gives zeros, and gradients of 0; one with +inf gives NaN.
THALWEG_API Tensor softmax(const Tensor& x, int64_t axis = -1);
/// The logarithm of softmax; -inf where that is 0.
THALWEG_API Tensor log_softmax(const Tensor& x, int64_t axis = -1);

/// No label is ignored.
inline constexpr int64_t kNoIgnoredLabel = std::numeric_limits<int64_t>::min();

struct SoftmaxCrossEntropyOptions {
  int64_t axis = -1;           ///< the axis of pred that runs over the classes
  double label_smoothing = 0;  ///< this part, 0 to 1, of each label is spread over all classes
  int64_t ignore_label = kNoIgnoredLabel;  ///< samples of this integer label have loss 0
  Tensor class_weights = {};               ///< [C]: factors of each class's part in the loss
};

/// The cross entropy of labels and softmax(pred), logits: pred [..., C] -> [...], the axis of the
/// classes dropped. `label` is one class per sample, integers of pred's shape without that axis, or
/// a distribution over the classes, of pred's shape. With q the label as a distribution (smoothed
/// as in Szegedy et al. 2015) and w the class weights, the loss is -sum(w q log(softmax(pred))), as
/// PyTorch's with reduction "none"; terms with w q = 0 count as 0. Throws Error{invalid} for a
/// class below 0 or not below C that is not ignore_label.
THALWEG_API Tensor softmax_cross_entropy(const Tensor& pred, const Tensor& label,
                                         const SoftmaxCrossEntropyOptions& options = {});

/// The cross entropy of labels between 0 and 1 and sigmoid(pred), logits, element by element, in a
/// form that neither overflows nor loses small values: (1 - label) pred +
/// (1 + (pos_weight - 1) label) log(1 + exp(-pred)). `label` has pred's shape; `pos_weight`, a
/// factor of the positive part, broadcasts to it and is 1 if undefined.
THALWEG_API Tensor sigmoid_cross_entropy(const Tensor& pred, const Tensor& label,
                                         const Tensor& pos_weight = {});

}  // namespace thalweg
