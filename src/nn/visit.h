#pragma once

#include <thalweg/nn/module.h>

namespace thalweg::nn {

/// Calls visit(name, child) for the modules that `module` lists.
inline void visit_children(Module& module, Members::OnModule visit) {
  const auto pass_over = [](std::string_view, Parameter&) {};
  Members members(pass_over, visit);
  module.members(members);
}

/// Calls visit(name, parameter) for the parameters that `module` itself lists.
inline void visit_parameters(Module& module, Members::OnParameter visit) {
  const auto pass_over = [](std::string_view, Module&) {};
  Members members(visit, pass_over);
  module.members(members);
}

}  // namespace thalweg::nn
