#pragma once

// A module is a part of a net: parameters, child modules and a function. A user's module lists its
// parts by name; saving, printing, initializing and all else walk over that list.
//
//   struct Mlp : tw::nn::Module {
//     tw::nn::Dense hidden{64, {.activation = tw::nn::relu}};
//     tw::nn::Dense out{10};
//
//     void members(tw::nn::Members& m) override { m("hidden", hidden)("out", out); }
//     tw::Tensor forward(const tw::Tensor& x) override { return out(hidden(x)); }
//   };
//
//   Mlp net;
//   net.initialize(tw::init::xavier());
//   tw::Tensor y = net(x);                     // parameters hidden.weight, hidden.bias, out.weight
//   ...
//
// A module whose function takes something else than one tensor gives it another name or signature
// and runs it through run():
//
//   tw::Tensor operator()(const tw::Tensor& query, const tw::Tensor& keys) {
//     return run([&] { return attend(query, keys); }, query, keys);
//   }
//
// Modules are values. A copy has the same parameters as its original, as a copied Tensor has the
// same elements: a layer that is put into a net twice shares its weights. Two threads may call one
// module once it knows its shapes, that is after its first call.

#include <concepts>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/base/error.h>
#include <thalweg/base/function_ref.h>
#include <thalweg/nn/hooks.h>
#include <thalweg/nn/parameter.h>

namespace thalweg {
struct CsrTensor;
}
namespace thalweg::detail {
class Planner;
}

namespace thalweg::nn {

class Module;

/// Takes the parts of a module: `m("hidden", hidden)("scale", scale)`. Names are unique within the
/// module and have no dots.
class Members {
 public:
  using OnParameter = FunctionRef<void(std::string_view name, Parameter& parameter)>;
  using OnModule = FunctionRef<void(std::string_view name, Module& module)>;

  /// Both must outlive it.
  Members(OnParameter on_parameter, OnModule on_module)
      : on_parameter_(on_parameter), on_module_(on_module) {}

  /// An absent parameter is passed over.
  Members& operator()(std::string_view name, Parameter& parameter) {
    if (parameter.defined()) on_parameter_(name, parameter);
    return *this;
  }
  Members& operator()(std::string_view name, Module& module) {
    on_module_(name, module);
    return *this;
  }
  /// As name.0, name.1, ...
  template <std::derived_from<Module> M>
  Members& operator()(std::string_view name, std::vector<M>& modules) {
    for (size_t i = 0; i < modules.size(); ++i) {
      on_module_(std::string(name) + "." + std::to_string(i), modules[i]);
    }
    return *this;
  }

 private:
  OnParameter on_parameter_;
  OnModule on_module_;
};

struct InitializeOptions {
  /// New values for parameters that have some, too; without it they keep them.
  bool reset = false;
  /// The numbers depend on this and on each parameter's name; by default it is drawn from the
  /// default random state, see manual_seed.
  std::optional<uint64_t> seed = {};
  Device device = {};
};

namespace detail {
// The modules that are running in this thread, the innermost first.
class CallFrame {
 public:
  explicit CallFrame(Module& module) : module_(module), slot_(current()), outer_(slot_) {
    slot_ = this;
  }
  ~CallFrame() { slot_ = outer_; }
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

  THALWEG_API static CallFrame*& current();
  Module& module() const { return module_; }
  const CallFrame* outer() const { return outer_; }

 private:
  Module& module_;
  CallFrame*& slot_;
  CallFrame* const outer_;
};

// Tells `error` in which layer it happened.
THALWEG_API void set_place(Error& error);

// The plans of one module's function; a copy of the module has none.
struct ModulePlans {
  std::shared_ptr<thalweg::detail::Planner> planner;

  ModulePlans() = default;
  ModulePlans(const ModulePlans&) {}
  ModulePlans(ModulePlans&&) noexcept = default;
  ModulePlans& operator=(const ModulePlans&) {
    planner.reset();
    return *this;
  }
  ModulePlans& operator=(ModulePlans&&) noexcept = default;
};
}  // namespace detail

class THALWEG_API Module {
 public:
  virtual ~Module() = default;

  /// Runs forward(x). An Error from inside names the module: `..., in mlp.2 (Dense)`.
  Tensor operator()(const Tensor& x) {
    return run([&] { return plans_.planner ? planned_forward(x) : forward(x); }, x);
  }
  /// Runs forward_sparse(x), likewise; hooks see the three parts. It is not planned.
  Tensor operator()(const CsrTensor& x);
  /// True if it takes a sparse matrix as it is: Dense, Embedding, and a Sequential that begins with
  /// one of them.
  virtual bool takes_sparse() const { return false; }

  /// Lists the module's parts.
  virtual void members(Members&) {}
  /// "Dense"; by default the name of the class.
  virtual std::string type_name() const;
  /// One line, "Dense(784 -> 64, Activation(relu))", or the class's name around its children, a
  /// line each.
  virtual std::string describe();

  /// All parameters of it and its children, each once, by structural names such as "0.weight".
  ParameterList parameters();
  /// Those in whose name the regular expression is found.
  ParameterList parameters(std::string_view pattern) { return parameters().matching(pattern); }

  /// Makes the first values; `init` is for parameters that have no initializer of their own (of the
  /// layers here, the weights).
  void initialize(const init::Initializer& init = init::xavier(), InitializeOptions options = {});

  /// From now on calls with one tensor, of this module and those below, are replayed as plans where
  /// nothing is recorded: see thalweg/graph/plan.h, also for what is left out. Inside a Record
  /// scope they run as ever; for training, plan the whole step. Calling it again drops what was
  /// planned; copies of the module are not planned.
  void hybridize();
  /// Undoes it.
  void unhybridize();
  /// What was planned for each signature of this module; see Planned::explain.
  std::string explain_plan() const;

  void zero_grad() { parameters().zero_grad(); }
  /// No gradients for its parameters; unfreeze() undoes it.
  void freeze() { parameters().freeze(); }
  void unfreeze() { parameters().set_grad_req(GradReq::write); }
  /// Converts the parameters. Trainers made before hold on to old gradients: cast first.
  virtual void cast(DType dtype);
  void to(Device device);

  /// Calls visit(path, module) for itself, with path "", and all modules below, parents first.
  void walk(FunctionRef<void(const std::string& path, Module& module)> visit);
  /// Calls f for all modules below and itself, children first.
  void apply(FunctionRef<void(Module& module)> f);

  /// Called before and after each run of this module, as long as the handle lives.
  [[nodiscard]] HookHandle add_pre_hook(PreHook hook);
  [[nodiscard]] HookHandle add_hook(Hook hook);

 protected:
  Module() = default;
  Module(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) noexcept = default;

  /// The function of the common kind of module. Throws Error{invalid} unless overridden.
  virtual Tensor forward(const Tensor& x);
  /// The same of a sparse matrix. Throws Error{invalid} unless overridden, as takes_sparse() then
  /// is.
  virtual Tensor forward_sparse(const CsrTensor& x);

  /// Runs `body`, which computes a tensor from `inputs`, as the module's function: with hooks, and
  /// errors from inside get the module's name.
  template <typename Body, typename... Inputs>
  Tensor run(Body&& body, const Inputs&... inputs) {
    const detail::CallFrame frame(*this);
    try {
      if (!hooks_) [[likely]]
        return body();
      const Tensor in[] = {inputs..., Tensor()};
      return hooks_->run(*this, {in, sizeof...(inputs)}, body);
    } catch (Error& error) {
      detail::set_place(error);
      throw;
    }
  }

 private:
  Tensor planned_forward(const Tensor& x);

  std::shared_ptr<HookList> hooks_;
  detail::ModulePlans plans_;
};

/// The net as text, as describe() gives it.
THALWEG_API std::ostream& operator<<(std::ostream& out, Module& module);

}  // namespace thalweg::nn
