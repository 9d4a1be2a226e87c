#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <typeinfo>

#include <cxxabi.h>

#include <thalweg/base/philox.h>
#include <thalweg/base/random.h>
#include <thalweg/graph/plan.h>
#include <thalweg/nn/module.h>
#include <thalweg/tensor/csr.h>

#include "base/fail.h"
#include "nn/visit.h"

namespace thalweg::nn {
namespace {

// Members of vectors are name.0, name.1, ...
void check_member_name(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('.'));
  const std::string_view rest = name.substr(first.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_number = rest.size() > 1 && std::all_of(rest.begin() + 1, rest.end(), is_digit);
  if (!first.empty() && (rest.empty() || is_number)) return;
  fail_invalid(
      "module: a part is named '{}' in members(); a name is not empty and has no dots, which join "
      "the names of parts",
      name);
}

std::string joined(const std::string& path, std::string_view name) {
  check_member_name(name);
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

void walk_from(const std::string& path, Module& module,
               FunctionRef<void(const std::string&, Module&)> visit) {
  visit(path, module);
  visit_children(module, [&](std::string_view name, Module& child) {
    walk_from(joined(path, name), child, visit);
  });
}

std::string demangled(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : symbol;
  std::free(text);
  return name;
}

// "Mlp" of "app::(anonymous namespace)::Mlp"; template arguments stay as they are.
std::string without_namespaces(const std::string& name) {
  const size_t colons = name.rfind("::", name.find('<'));
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string indented(const std::string& text) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

}  // namespace

Tensor Module::forward(const Tensor&) {
  fail_invalid(
      "{}: takes no single tensor; call it with the arguments it declares, or override "
      "forward(const Tensor&)",
      type_name());
}

Tensor Module::operator()(const CsrTensor& x) {
  return run([&] { return forward_sparse(x); }, x.values, x.columns, x.row_starts);
}

Tensor Module::forward_sparse(const CsrTensor& x) {
  fail_invalid("{}: takes no sparse matrix of shape {}; give it x.to_dense()", type_name(),
               to_string(x.shape));
}

std::string Module::type_name() const {
  return without_namespaces(demangled(typeid(*this).name()));
}

std::string Module::describe() {
  std::string lines;
  visit_children(*this, [&](std::string_view name, Module& child) {
    lines += fmt::format("\n  ({}): {}", name, indented(child.describe()));
  });
  return lines.empty() ? type_name() + "()" : fmt::format("{}({}\n)", type_name(), lines);
}

ParameterList Module::parameters() {
  std::vector<NamedParameter> items;
  walk([&](const std::string& path, Module& module) {
    visit_parameters(module, [&](std::string_view name, Parameter& parameter) {
      const std::string full = joined(path, name);
      for (NamedParameter& item : items) {
        if (item.parameter == parameter) {
          item.aliases.push_back(full);
          return;
        }
        // A file would keep one of the two.
        if (item.name == full)
          fail_invalid("module: two parameters are named '{}'; names in members() are unique",
                       full);
      }
      items.push_back({full, parameter, {}});
    });
  });
  return ParameterList(std::move(items));
}

void Module::initialize(const init::Initializer& init, InitializeOptions options) {
  uint64_t seed = 0;
  if (options.seed) {
    seed = *options.seed;
  } else {
    const RandomState state = reserve_random(1);
    seed = derive_seed(state.seed, state.offset);
  }
  for (const NamedParameter& item : parameters()) {
    if (item.parameter.has_data() && !options.reset) continue;
    item.parameter.initialize(item.name, seed, init, options.device);
  }
}

void Module::cast(DType dtype) {
  visit_parameters(*this, [&](std::string_view, Parameter& parameter) { parameter.cast(dtype); });
  visit_children(*this, [&](std::string_view, Module& child) { child.cast(dtype); });
}

void Module::to(Device device) {
  require_available(device);
  for (const NamedParameter& item : parameters()) item.parameter.to(device);
}

void Module::walk(FunctionRef<void(const std::string& path, Module& module)> visit) {
  walk_from("", *this, visit);
}

void Module::apply(FunctionRef<void(Module& module)> f) {
  visit_children(*this, [&](std::string_view, Module& child) { child.apply(f); });
  f(*this);
}

HookHandle Module::add_pre_hook(PreHook hook) {
  if (!hooks_) hooks_ = std::make_shared<HookList>();
  return HookHandle(hooks_, hooks_->add(std::move(hook), nullptr));
}

HookHandle Module::add_hook(Hook hook) {
  if (!hooks_) hooks_ = std::make_shared<HookList>();
  return HookHandle(hooks_, hooks_->add(nullptr, std::move(hook)));
}

void Module::hybridize() {
  apply([](Module& module) {
    module.plans_.planner = std::make_shared<thalweg::detail::Planner>(PlanOptions{});
  });
}

void Module::unhybridize() {
  apply([](Module& module) { module.plans_.planner.reset(); });
}

std::string Module::explain_plan() const {
  if (!plans_.planner) return "not hybridized\n";
  return plans_.planner->explain();
}

Tensor Module::planned_forward(const Tensor& x) {
  const auto planner = plans_.planner;  // forward() may drop it
  if (!planner->enter()) return forward(x);
  struct Leave {
    thalweg::detail::Planner& planner;
    ~Leave() { planner.leave(); }
  } const leave{*planner};
  thalweg::detail::add_argument(planner->arguments(), x);
  return std::move(
      planner->call([&](std::vector<Tensor>& results) { results.push_back(forward(x)); })[0]);
}

std::ostream& operator<<(std::ostream& out, Module& module) { return out << module.describe(); }

}  // namespace thalweg::nn
