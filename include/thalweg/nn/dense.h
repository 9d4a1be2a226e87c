#pragma once

#include <thalweg/nn/activation.h>
#include <thalweg/nn/module.h>

namespace thalweg::nn {

struct DenseOptions {
  ActivationFunction activation = {};
  bool bias = true;
  /// Join all axes of the input but the first, as Gluon's Dense does by default.
  bool flatten = false;
  int64_t in_units = 0;  ///< 0: learned at the first call
  init::Initializer weight_init = {};
  init::Initializer bias_init = init::zero();
  DType dtype = DType::f32;
};

/// activation(x W^T + b): x [..., in_units] -> [..., units]; with `flatten`, x [N, ...] -> [N,
/// units]. Parameters weight [units, in_units] and bias [units]. x may be sparse, [..., in_units]:
/// the gradient of the weight then has the columns that x has (see RowGradient).
class THALWEG_API Dense : public Module {
 public:
  explicit Dense(int64_t units, DenseOptions options = {});

  Parameter weight;
  Parameter bias;

  void members(Members& m) override { m("weight", weight)("bias", bias); }
  std::string type_name() const override { return "Dense"; }
  std::string describe() override;
  bool takes_sparse() const override { return true; }

 protected:
  Tensor forward(const Tensor& x) override;
  Tensor forward_sparse(const CsrTensor& x) override;

 private:
  Tensor apply_to(const Tensor& x);

  ActivationFunction activation_;
  bool flatten_;
};

}  // namespace thalweg::nn
