#pragma once

// Normalisation layers; thalweg/ops/norm.h has the formulas. Parameters are gamma, the factors, and
// beta, what is added; both stay f32 in a net that is cast to f16 or bf16.

#include <thalweg/nn/module.h>

namespace thalweg::nn {

/// What the normalisation layers have in common.
class THALWEG_API NormLayer : public Module {
 public:
  Parameter gamma;
  Parameter beta;

  void members(Members& m) override { m("gamma", gamma)("beta", beta); }
  void cast(DType dtype) override;

 protected:
  /// gamma and beta, where wanted, of a shape whose unknown sizes are 0.
  NormLayer(const Shape& shape, bool scale, bool center);

  /// Completes the shapes of the parameters at the first call.
  void infer(const Shape& shape) {
    if (known_) [[likely]]
      return;
    infer_parameters(shape);
  }

 private:
  void infer_parameters(const Shape& shape);

  bool known_ = false;
};

struct BatchNormLayerOptions {
  int64_t axis = 1;       ///< the channels
  double epsilon = 1e-5;  ///< added to the variance
  double momentum = 0.9;  ///< part of the running statistics that a training call keeps
  bool scale = true;      ///< has gamma
  bool center = true;     ///< has beta
  /// Takes the running statistics while training too, and leaves them as they are.
  bool use_running = false;
  int64_t channels = 0;  ///< 0: learned at the first call
};

/// batch_norm of x [N, C, ...]. State running_mean and running_var [C], saved but not trained: 0
/// and 1 at first, changed by each call in training mode.
class THALWEG_API BatchNorm : public NormLayer {
 public:
  explicit BatchNorm(BatchNormLayerOptions options = {});

  Parameter running_mean;
  Parameter running_var;

  void members(Members& m) override;
  std::string type_name() const override { return "BatchNorm"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Tensor normalized(const Tensor& x);

  BatchNormLayerOptions options_;
};

struct LayerNormLayerOptions {
  int64_t axes = 1;       ///< how many of the last axes are normalised together
  double epsilon = 1e-5;  ///< added to the variance, or the mean square
  bool scale = true;      ///< has gamma
  bool center = true;     ///< has beta; never of RMSNorm
};

/// layer_norm of the last axes of x. gamma and beta have the shape of these axes.
class THALWEG_API LayerNorm : public NormLayer {
 public:
  explicit LayerNorm(LayerNormLayerOptions options = {});

  std::string type_name() const override { return "LayerNorm"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  LayerNormLayerOptions options_;
};

/// rms_norm of the last axes of x. gamma has the shape of these axes; there is no beta.
class THALWEG_API RMSNorm : public NormLayer {
 public:
  explicit RMSNorm(LayerNormLayerOptions options = {});

  std::string type_name() const override { return "RMSNorm"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  LayerNormLayerOptions options_;
};

struct GroupNormLayerOptions {
  double epsilon = 1e-5;  ///< added to the variance
  bool scale = true;      ///< has gamma
  bool center = true;     ///< has beta
  int64_t channels = 0;   ///< 0: learned at the first call
};

/// group_norm of x [N, C, ...] in `groups` groups of channels. gamma and beta are [C].
class THALWEG_API GroupNorm : public NormLayer {
 public:
  explicit GroupNorm(int64_t groups, GroupNormLayerOptions options = {});

  std::string type_name() const override { return "GroupNorm"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  int64_t groups_;
  GroupNormLayerOptions options_;
};

/// Ulyanov et al. 2016: every channel of every sample of x [N, C, ...] by itself. gamma and beta
/// are [C].
class THALWEG_API InstanceNorm : public NormLayer {
 public:
  explicit InstanceNorm(GroupNormLayerOptions options = {});

  std::string type_name() const override { return "InstanceNorm"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  GroupNormLayerOptions options_;
};

}  // namespace thalweg::nn
