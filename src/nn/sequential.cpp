#include <thalweg/nn/sequential.h>

#include "base/fail.h"

namespace thalweg::nn {

Sequential& Sequential::add(std::shared_ptr<Module> module) {
  if (!module) fail_invalid("Sequential: module {} is null", size());
  modules_.push_back(std::move(module));
  return *this;
}

const std::shared_ptr<Module>& Sequential::checked(size_t i) const {
  if (i >= size()) fail_invalid("Sequential: there is no module {}; it has {}", i, size());
  return modules_[i];
}

void Sequential::throw_other_type(size_t i) const {
  fail_invalid("Sequential: module {} is a {}, not of the type asked for", i,
               modules_[i]->type_name());
}

Sequential Sequential::slice(size_t begin, size_t end) const {
  if (begin > end || end > size()) {
    fail_invalid("Sequential: no slice {}..{} of {} modules", begin, end, size());
  }
  Sequential part;
  part.modules_.assign(modules_.begin() + static_cast<ptrdiff_t>(begin),
                       modules_.begin() + static_cast<ptrdiff_t>(end));
  return part;
}

void Sequential::members(Members& m) {
  for (size_t i = 0; i < size(); ++i) m(std::to_string(i), *modules_[i]);
}

Tensor Sequential::forward(const Tensor& x) {
  if (modules_.empty()) return x;
  return run_rest((*modules_[0])(x));
}

Tensor Sequential::forward_sparse(const CsrTensor& x) {
  if (modules_.empty()) return Module::forward_sparse(x);
  return run_rest((*modules_[0])(x));
}

Tensor Sequential::run_rest(Tensor x) {
  for (size_t i = 1; i < size(); ++i) x = (*modules_[i])(x);
  return x;
}

}  // namespace thalweg::nn
