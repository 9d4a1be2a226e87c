#include <array>

#include <thalweg/base/text.h>
#include <thalweg/nn/activation.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"

namespace thalweg::nn {
namespace {

constexpr std::array kActivations = {
    ActivationFunction{}, relu,         sigmoid, tanh, softplus, softsign,
    log_sigmoid,          hard_sigmoid, selu,    silu, gelu,     gelu_tanh};

}  // namespace

ActivationFunction activation(std::string_view name) {
  if (name == "softrelu") return softplus;
  if (name == "swish") return silu;
  for (const ActivationFunction& f : kActivations) {
    if (name == f.name) return f;
  }
  const std::vector<std::string_view> names = activation_names();
  fail_invalid("activation: there is no '{}'{}; there are {}", name, did_you_mean(name, names),
               fmt::join(names, ", "));
}

std::vector<std::string_view> activation_names() {
  std::vector<std::string_view> names;
  for (const ActivationFunction& f : kActivations) names.emplace_back(f.name);
  return names;
}

std::string Activation::describe() { return fmt::format("Activation({})", function_.name); }
std::string LeakyReLU::describe() { return fmt::format("LeakyReLU({})", slope_); }
std::string ELU::describe() { return fmt::format("ELU({})", alpha_); }

PReLU::PReLU(PReLUOptions options) : alpha({options.channels}, {.init = std::move(options.init)}) {
  if (options.channels < 1) fail_invalid("PReLU: channels must be positive; {}", options.channels);
}

std::string PReLU::describe() { return fmt::format("PReLU({})", alpha.size()); }

Tensor PReLU::forward(const Tensor& x) {
  const Tensor& slopes = alpha.data();
  if (slopes.size() == 1 || x.dims() <= 2) return prelu(x, slopes);
  Shape shape(static_cast<size_t>(x.dims()), 1);
  shape[1] = slopes.size();
  return prelu(x, reshape(slopes, shape));
}

}  // namespace thalweg::nn
