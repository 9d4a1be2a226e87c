#pragma once

// Normalisation layers as functions: (x - mean) / sqrt(variance + epsilon), then times `weight`
// plus `bias`, both of which may be undefined (1 and 0). Variances are those of the elements
// themselves, divided by n. `weight` and `bias` have x's dtype, or f32 beside halves; all is
// computed in f32 or wider, and any layout of x, such as channels last, is kept.

#include <thalweg/tensor/tensor.h>

namespace thalweg {

struct BatchNormOptions {
  int64_t axis = 1;       ///< the channels
  double epsilon = 1e-5;  ///< added to the variance
  double momentum = 0.9;  ///< part of the running statistics that a training call keeps
};

/// Ioffe and Szegedy 2015. x with C channels along the axis; weight, bias and the running
/// statistics are [C]. In training mode, or without running statistics, mean and variance are those
/// of each channel in x; in prediction mode they are the running ones.
///
/// A call in training mode changes the running statistics in place:
///   running = momentum * running + (1 - momentum) * statistic
/// where the variance's statistic is the unbiased one, divided by n - 1, as in PyTorch (whose
/// momentum is 1 - this one; MXNet and Keras keep the biased one). With one element per channel the
/// variance is 0, and the running one stays finite; an empty x leaves both as they are.
THALWEG_API Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const Tensor& running_mean, const Tensor& running_var,
                              const BatchNormOptions& options = {});

struct LayerNormOptions {
  int64_t axis = -1;      ///< the first of the axes that are normalised; all after it are too
  double epsilon = 1e-5;  ///< added to the variance, or to the mean square
};

/// Ba et al. 2016: every sample over its last axes. weight and bias have the shape of these axes.
THALWEG_API Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const LayerNormOptions& options = {});

/// Zhang and Sennrich 2019: x / sqrt(mean(x * x) + epsilon) over the last axes, times weight.
THALWEG_API Tensor rms_norm(const Tensor& x, const Tensor& weight,
                            const LayerNormOptions& options = {});

struct GroupNormOptions {
  int64_t groups = 1;     ///< must divide C; C itself makes it instance norm
  double epsilon = 1e-5;  ///< added to the variance
};

/// Wu and He 2018: x [N, C, ...], every sample over the channels of one group and the axes after
/// them. weight and bias are [C].
THALWEG_API Tensor group_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              const GroupNormOptions& options = {});

}  // namespace thalweg
