#pragma once

#include <thalweg/nn/module.h>
#include <thalweg/ops/pointwise.h>

namespace thalweg::nn {

/// A point-wise function with a name, for options such as `.activation = nn::relu` and to be
/// called: `nn::relu(x)`. The default one leaves its argument as it is.
struct ActivationFunction {
  const char* name = "linear";
  Tensor (*apply)(const Tensor& x) = nullptr;

  explicit constexpr operator bool() const { return apply != nullptr; }
  Tensor operator()(const Tensor& x) const { return apply ? apply(x) : x; }
};

#define THALWEG_ACTIVATION(name) \
  inline constexpr ActivationFunction name { #name, thalweg::name }
THALWEG_ACTIVATION(relu);
THALWEG_ACTIVATION(sigmoid);
THALWEG_ACTIVATION(tanh);
THALWEG_ACTIVATION(softplus);
THALWEG_ACTIVATION(softsign);
THALWEG_ACTIVATION(log_sigmoid);
THALWEG_ACTIVATION(hard_sigmoid);
THALWEG_ACTIVATION(selu);
THALWEG_ACTIVATION(silu);
THALWEG_ACTIVATION(gelu);
THALWEG_ACTIVATION(gelu_tanh);
#undef THALWEG_ACTIVATION

/// The activation of that name; "softrelu" and "swish" are softplus and silu. Throws Error{invalid}
/// with the nearest name when there is none.
THALWEG_API ActivationFunction activation(std::string_view name);

/// The names that activation() takes, but for its two aliases.
THALWEG_API std::vector<std::string_view> activation_names();

/// An activation function as a layer.
class THALWEG_API Activation : public Module {
 public:
  explicit Activation(ActivationFunction function) : function_(function) {}

  std::string type_name() const override { return "Activation"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override { return function_(x); }

 private:
  ActivationFunction function_;
};

/// x where positive, else slope * x.
class THALWEG_API LeakyReLU : public Module {
 public:
  explicit LeakyReLU(double slope = 0.01) : slope_(slope) {}

  std::string type_name() const override { return "LeakyReLU"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override { return leaky_relu(x, slope_); }

 private:
  double slope_;
};

/// x where positive, else alpha * (exp(x) - 1) (Clevert et al. 2015).
class THALWEG_API ELU : public Module {
 public:
  explicit ELU(double alpha = 1) : alpha_(alpha) {}

  std::string type_name() const override { return "ELU"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override { return elu(x, alpha_); }

 private:
  double alpha_;
};

struct PReLUOptions {
  int64_t channels = 1;  ///< learned slopes: one for all, or one for each index of axis 1
  init::Initializer init = init::constant(0.25);
};

/// x where positive, else a learned slope times x (He et al. 2015). Parameter alpha [channels].
class THALWEG_API PReLU : public Module {
 public:
  explicit PReLU(PReLUOptions options = {});

  Parameter alpha;

  void members(Members& m) override { m("alpha", alpha); }
  std::string type_name() const override { return "PReLU"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace thalweg::nn
