#pragma once

#include <concepts>
#include <memory>
#include <vector>

#include <thalweg/nn/module.h>

namespace thalweg::nn {

/// Modules one after the other, named 0, 1, ...:
/// `Sequential net{Dense(64, {.activation = relu}), Dense(10)};`. Copies share the modules.
class THALWEG_API Sequential : public Module {
 public:
  Sequential() = default;
  template <std::derived_from<Module>... M>
  explicit Sequential(M... modules) {
    modules_.reserve(sizeof...(modules));
    (add(std::move(modules)), ...);
  }

  /// Appends a module; returns itself.
  template <std::derived_from<Module> M>
  Sequential& add(M module) {
    modules_.push_back(std::make_shared<M>(std::move(module)));
    return *this;
  }
  Sequential& add(std::shared_ptr<Module> module);

  size_t size() const { return modules_.size(); }
  /// Throws Error{invalid} when there is no such module.
  Module& operator[](size_t i) const { return *checked(i); }
  /// Module i as the type that was put in. Throws Error{invalid} when it is of another type.
  template <std::derived_from<Module> M>
  M& at(size_t i) const {
    if (M* module = dynamic_cast<M*>(checked(i).get())) return *module;
    throw_other_type(i);
  }
  /// The modules from `begin` up to `end`, shared with this net.
  Sequential slice(size_t begin, size_t end) const;

  void members(Members& m) override;
  std::string type_name() const override { return "Sequential"; }
  bool takes_sparse() const override { return size() > 0 && modules_[0]->takes_sparse(); }

 protected:
  Tensor forward(const Tensor& x) override;
  Tensor forward_sparse(const CsrTensor& x) override;

 private:
  Tensor run_rest(Tensor x);
  const std::shared_ptr<Module>& checked(size_t i) const;
  [[noreturn]] void throw_other_type(size_t i) const;

  std::vector<std::shared_ptr<Module>> modules_;
};

}  // namespace thalweg::nn
