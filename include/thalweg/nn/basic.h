#pragma once

// Layers without a family: Flatten, Dropout, Embedding, Lambda, Identity, Residual.

#include <functional>
#include <memory>

#include <thalweg/nn/activation.h>
#include <thalweg/nn/module.h>

namespace thalweg::nn {

/// x [N, ...] -> [N, the product of the rest].
class THALWEG_API Flatten : public Module {
 public:
  std::string type_name() const override { return "Flatten"; }

 protected:
  Tensor forward(const Tensor& x) override;
};

/// The input as it is.
class THALWEG_API Identity : public Module {
 public:
  std::string type_name() const override { return "Identity"; }

 protected:
  Tensor forward(const Tensor& x) override { return x; }
};

struct DropoutOptions {
  /// Axes along which all elements are dropped together, e.g. {2, 3} for whole channels.
  Dims shared_axes = {};
};

/// While training (see Record), each element is 0 with the given probability, and the others are
/// divided by 1 - probability; otherwise the input as it is (Srivastava et al. 2014). Throws
/// Error{invalid} unless 0 <= probability < 1.
class THALWEG_API Dropout : public Module {
 public:
  explicit Dropout(double probability, DropoutOptions options = {});

  std::string type_name() const override { return "Dropout"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  double probability_;
  Dims shared_axes_;
};

struct EmbeddingOptions {
  int64_t padding = -1;  ///< this index gives zeros, which are not learned; -1: none
  /// The gradient of the weight has the rows that were looked up and no others, so that a step
  /// takes the time of these rows; optimizers then leave the others as they are (see RowGradient).
  bool sparse_grad = false;
  init::Initializer weight_init = {};
  DType dtype = DType::f32;
};

/// A learned row for each index: integers [I...] -> [I..., units]; of floating [I..., count], such
/// as one-hot rows, the sums of rows that they weigh. Parameter weight [count, units].
/// An index outside [0, count) is an error. Of a sparse matrix [..., count] it gives the same sums,
/// and the gradient has some rows in any case.
class THALWEG_API Embedding : public Module {
 public:
  Embedding(int64_t count, int64_t units, EmbeddingOptions options = {});

  Parameter weight;

  void members(Members& m) override { m("weight", weight); }
  std::string type_name() const override { return "Embedding"; }
  std::string describe() override;
  bool takes_sparse() const override { return true; }

 protected:
  Tensor forward(const Tensor& indices) override;
  Tensor forward_sparse(const CsrTensor& x) override;

 private:
  int64_t padding_;
  bool sparse_grad_;
};

/// Any function of one tensor as a layer. Throws Error{invalid} for an empty one.
class THALWEG_API Lambda : public Module {
 public:
  using Function = std::function<Tensor(const Tensor& x)>;
  Lambda(std::string name, Function function);

  std::string type_name() const override { return "Lambda"; }
  std::string describe() override { return "Lambda(" + name_ + ")"; }

 protected:
  Tensor forward(const Tensor& x) override { return function_(x); }

 private:
  std::string name_;
  Function function_;
};

/// activation(body(x) + shortcut(x)), the shortcut being x itself unless a module is given (He et
/// al. 2016). Its parts are named body and shortcut.
class THALWEG_API Residual : public Module {
 public:
  template <std::derived_from<Module> Body>
  explicit Residual(Body body, ActivationFunction activation = {})
      : body_(std::make_shared<Body>(std::move(body))), activation_(activation) {}
  template <std::derived_from<Module> Body, std::derived_from<Module> Shortcut>
  Residual(Body body, Shortcut shortcut, ActivationFunction activation = {})
      : body_(std::make_shared<Body>(std::move(body))),
        shortcut_(std::make_shared<Shortcut>(std::move(shortcut))),
        activation_(activation) {}

  void members(Members& m) override;
  std::string type_name() const override { return "Residual"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Module> body_, shortcut_;
  ActivationFunction activation_;
};

}  // namespace thalweg::nn
