#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/nn/init.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::nn {

struct ParameterOptions {
  /// Its own rule for first values; without one it takes that of Module::initialize.
  init::Initializer init = {};
  GradReq grad_req = GradReq::write;
  double lr_mult = 1;  ///< the optimizer's learning rate times this
  double wd_mult = 1;  ///< the optimizer's weight decay times this
  DType dtype = DType::f32;
  /// False for state that is saved but not trained, such as running means; such a parameter never
  /// has a gradient.
  bool differentiable = true;
};

/// A tensor that belongs to a module: named, saved, and trained unless its GradReq is null. A
/// handle: copies are the same parameter, and giving one to two modules shares it. A
/// default-constructed handle is absent, as the bias of a layer without one.
///
/// Sizes that are not known when a layer is made are 0 in its shape until the first call. The first
/// values depend on the initializer, the seed and the parameter's name, not on when its shape
/// becomes known.
class THALWEG_API Parameter {
 public:
  Parameter() = default;
  explicit Parameter(const Shape& shape, ParameterOptions options = {});

  /// False for an absent parameter, of which nothing else may be asked.
  bool defined() const noexcept { return static_cast<bool>(state_); }
  bool has_data() const noexcept { return state_->data.defined(); }

  /// The values. Throws Error{invalid} before they exist: initialize() was not called, or a size is
  /// unknown until the first call.
  const Tensor& data() const {
    if (!state_->data.defined()) [[unlikely]]
      throw_no_data();
    return state_->data;
  }
  /// data(), or an undefined tensor for an absent parameter.
  const Tensor& data_if_defined() const { return state_ ? data() : no_tensor(); }
  /// The gradient; see Tensor::grad.
  Tensor grad() const { return data().grad(); }
  void zero_grad() const {
    if (has_data()) data().zero_grad();
  }

  /// Sizes, 0 where unknown.
  const Shape& shape() const { return state_->shape; }
  DType dtype() const { return state_->options.dtype; }
  Device device() const { return state_->device; }
  /// Number of elements; 0 while a size is unknown.
  int64_t size() const { return element_count(shape()); }
  /// The structural name it was initialised or loaded under, "mlp.0.weight"; "" before.
  const std::string& name() const { return state_->name; }

  GradReq grad_req() const { return state_->options.grad_req; }
  /// null frees the gradient. No effect on what is not differentiable.
  void set_grad_req(GradReq req) const;
  bool differentiable() const { return state_->options.differentiable; }
  double lr_mult() const { return state_->options.lr_mult; }
  double wd_mult() const { return state_->options.wd_mult; }
  void set_lr_mult(double factor) const { state_->options.lr_mult = factor; }
  void set_wd_mult(double factor) const { state_->options.wd_mult = factor; }
  const init::Initializer& initializer() const { return state_->options.init; }
  void set_initializer(init::Initializer init) const { state_->options.init = std::move(init); }

  /// Makes the first values: now, or when infer_shape completes the shape. The initializer is the
  /// parameter's own if it has one, else `fallback`; the numbers depend on (seed, name).
  void initialize(std::string_view name, uint64_t seed, const init::Initializer& fallback,
                  Device device = {}) const;
  /// Fills in unknown sizes. Throws Error{invalid} where a known one differs.
  void infer_shape(const Shape& shape) const;
  /// Gives it values; completes the shape. Copies them into the existing tensor if there is one, so
  /// that the gradient stays. Throws Error{invalid} for another shape or dtype.
  void set_data(const Tensor& values, std::string_view name = {}) const;
  /// Converts values and gradient-to-be; a gradient at hand is dropped. No effect on parameters
  /// that are not floating.
  void cast(DType dtype) const;
  void to(Device device) const;

  friend bool operator==(const Parameter& a, const Parameter& b) { return a.state_ == b.state_; }

 private:
  struct State {
    Tensor data;
    Shape shape;
    ParameterOptions options;
    Device device;
    std::string name;
    init::Initializer pending;  // what to call when the shape is complete
    uint64_t seed = 0;
  };

  [[noreturn]] void throw_no_data() const;
  static const Tensor& no_tensor();
  bool shape_known() const;
  void fill() const;
  void install(const Tensor& data) const;

  std::shared_ptr<State> state_;
};

/// A parameter and where in the net it is.
struct NamedParameter {
  std::string name;
  Parameter parameter;
  std::vector<std::string> aliases = {};  ///< further names of a shared parameter
};

/// The parameters of a net in the order of its members, each once.
class THALWEG_API ParameterList {
 public:
  ParameterList() = default;
  explicit ParameterList(std::vector<NamedParameter> items) : items_(std::move(items)) {}

  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const NamedParameter& operator[](size_t i) const { return items_[i]; }
  /// By name or alias. Throws Error{invalid} with the nearest name when there is none.
  Parameter operator[](std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  /// Those in whose name the regular expression (ECMAScript) is found: "bias$", "^encoder\\.".
  ParameterList matching(std::string_view pattern) const;
  ParameterList with_prefix(std::string_view prefix) const;
  /// Those with a GradReq other than null.
  ParameterList trainable() const;

  /// Number of elements over all parameters; unknown shapes count 0.
  int64_t element_count() const;
  uint64_t bytes() const;

  const ParameterList& zero_grad() const;
  const ParameterList& set_grad_req(GradReq req) const;
  const ParameterList& freeze() const { return set_grad_req(GradReq::null); }
  const ParameterList& set_lr_mult(double factor) const;
  const ParameterList& set_wd_mult(double factor) const;

 private:
  const NamedParameter* find(std::string_view name) const;

  std::vector<NamedParameter> items_;
};

}  // namespace thalweg::nn
