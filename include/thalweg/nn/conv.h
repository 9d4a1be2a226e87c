#pragma once

// Convolution layers over 1 to 3 spatial axes, channels second: [N, C, W], [N, C, H, W] or
// [N, C, D, H, W]. See thalweg/ops/conv.h for the sizes of the results.

#include <thalweg/nn/activation.h>
#include <thalweg/nn/module.h>
#include <thalweg/ops/conv.h>

namespace thalweg::nn {

struct ConvLayerOptions {
  PerAxis kernel = {};   ///< the window's size; must be given
  PerAxis stride = 1;    ///< step from one window to the next
  PerAxis padding = 0;   ///< zeros put before and after each axis
  PerAxis dilation = 1;  ///< distance between neighbouring elements of a window
  int64_t groups = 1;    ///< cuts the channels into so many convolutions side by side
  ActivationFunction activation = {};
  bool bias = true;
  int64_t in_channels = 0;  ///< 0: learned at the first call
  init::Initializer weight_init = {};
  init::Initializer bias_init = init::zero();
  DType dtype = DType::f32;
};

/// What Conv1D to Conv3D have in common. Parameters weight [channels, in_channels / groups,
/// kernel...] and bias [channels].
class THALWEG_API Conv : public Module {
 public:
  Parameter weight;
  Parameter bias;

  void members(Members& m) override { m("weight", weight)("bias", bias); }
  std::string type_name() const override { return type_; }
  std::string describe() override;

 protected:
  Conv(const char* type, size_t axes, int64_t channels, ConvLayerOptions options);
  Tensor forward(const Tensor& x) override;

 private:
  void infer(const Tensor& x);

  const char* type_;
  ConvOptions options_;
  ActivationFunction activation_;
};

/// x [N, C, W] -> [N, channels, W'].
class THALWEG_API Conv1D : public Conv {
 public:
  Conv1D(int64_t channels, ConvLayerOptions options)
      : Conv("Conv1D", 1, channels, std::move(options)) {}
};

/// x [N, C, H, W] -> [N, channels, H', W']: `Conv2D(32, {.kernel = 3, .padding = 1})`.
class THALWEG_API Conv2D : public Conv {
 public:
  Conv2D(int64_t channels, ConvLayerOptions options)
      : Conv("Conv2D", 2, channels, std::move(options)) {}
};

/// x [N, C, D, H, W] -> [N, channels, D', H', W'].
class THALWEG_API Conv3D : public Conv {
 public:
  Conv3D(int64_t channels, ConvLayerOptions options)
      : Conv("Conv3D", 3, channels, std::move(options)) {}
};

struct ConvTransposeLayerOptions {
  PerAxis kernel = {};         ///< the window's size; must be given
  PerAxis stride = 1;          ///< of the convolution that is reversed
  PerAxis padding = 0;         ///< cut from both ends of the result
  PerAxis output_padding = 0;  ///< added to the far end of the result; below the stride
  PerAxis dilation = 1;        ///< distance between neighbouring elements of a window
  int64_t groups = 1;          ///< cuts the channels into so many convolutions side by side
  ActivationFunction activation = {};
  bool bias = true;
  int64_t in_channels = 0;  ///< 0: learned at the first call
  init::Initializer weight_init = {};
  init::Initializer bias_init = init::zero();
  DType dtype = DType::f32;
};

/// What ConvTranspose1D to ConvTranspose3D have in common. Parameters weight [in_channels,
/// channels / groups, kernel...] and bias [channels].
class THALWEG_API ConvTranspose : public Module {
 public:
  Parameter weight;
  Parameter bias;

  void members(Members& m) override { m("weight", weight)("bias", bias); }
  std::string type_name() const override { return type_; }
  std::string describe() override;

 protected:
  ConvTranspose(const char* type, size_t axes, int64_t channels, ConvTransposeLayerOptions options);
  Tensor forward(const Tensor& x) override;

 private:
  void infer(const Tensor& x);

  const char* type_;
  ConvTransposeOptions options_;
  ActivationFunction activation_;
};

/// x [N, C, W] -> [N, channels, W'].
class THALWEG_API ConvTranspose1D : public ConvTranspose {
 public:
  ConvTranspose1D(int64_t channels, ConvTransposeLayerOptions options)
      : ConvTranspose("ConvTranspose1D", 1, channels, std::move(options)) {}
};

/// x [N, C, H, W] -> [N, channels, H', W'].
class THALWEG_API ConvTranspose2D : public ConvTranspose {
 public:
  ConvTranspose2D(int64_t channels, ConvTransposeLayerOptions options)
      : ConvTranspose("ConvTranspose2D", 2, channels, std::move(options)) {}
};

/// x [N, C, D, H, W] -> [N, channels, D', H', W'].
class THALWEG_API ConvTranspose3D : public ConvTranspose {
 public:
  ConvTranspose3D(int64_t channels, ConvTransposeLayerOptions options)
      : ConvTranspose("ConvTranspose3D", 3, channels, std::move(options)) {}
};

}  // namespace thalweg::nn
