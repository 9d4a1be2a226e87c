#include <algorithm>
#include <map>
#include <set>

#include <thalweg/nn/summary.h>

#include "nn/recorder_scope.h"
#include "nn/visit.h"
#include "ops/op_cost.h"

namespace thalweg::nn {
namespace {

constexpr int kInput = -1;

bool has_children(Module& module) {
  bool found = false;
  visit_children(module, [&](std::string_view, Module&) { found = true; });
  return found;
}

std::vector<Parameter> own_parameters(Module& module) {
  std::vector<Parameter> own;
  visit_parameters(module, [&](std::string_view, Parameter& p) { own.push_back(p); });
  return own;
}

// Listens to the layers by hooks, and to the ops as the thread's recorder. Both together tell which
// layers' outputs a tensor was made from: `sources_`.
class Observer final : public Recorder {
 public:
  Observer(Module& net, const Tensor& input) {
    result_.input = input.shape();
    set_sources(*input.impl(), {kInput});
    net.walk([&](const std::string& path, Module& module) {
      if (has_children(module) && own_parameters(module).empty()) return;
      if (!names_.emplace(&module, path).second) return;
      handles_.push_back(module.add_pre_hook(
          [this](Module& m, std::span<const Tensor> inputs) { enter(m, inputs); }));
      handles_.push_back(
          module.add_hook([this](Module&, std::span<const Tensor>, Tensor& y) { leave(y); }));
    });
  }

  void record(const Op& op, const void*, std::span<const TensorImpl* const> inputs,
              std::span<TensorImpl* const> outputs) override {
    const int64_t cost = op_cost(op, inputs, outputs);
    result_.operations += cost;
    if (!running_.empty()) result_.layers[static_cast<size_t>(running_.back())].operations += cost;
    std::set<int> sources;
    for (const TensorImpl* in : inputs) {
      if (const auto found = sources_.find(in); found != sources_.end()) {
        sources.insert(found->second.begin(), found->second.end());
      }
    }
    for (TensorImpl* out : outputs) set_sources(*out, sources);
  }

  NetSummary take() && { return std::move(result_); }

 private:
  void enter(Module& module, std::span<const Tensor> inputs) {
    const int index = static_cast<int>(result_.layers.size());
    running_.push_back(index);
    LayerSummary layer;
    layer.name = names_.at(&module);
    layer.type = module.type_name();
    layer.description = has_children(module) ? layer.type : module.describe();
    result_.layers.push_back(std::move(layer));
    modules_.push_back(&module);
    std::set<int> sources;
    for (const Tensor& in : inputs) {
      if (const auto found = sources_.find(in.impl()); found != sources_.end()) {
        sources.insert(found->second.begin(), found->second.end());
      }
    }
    for (int from : sources) result_.edges.push_back({from, index});
  }

  void leave(const Tensor& y) {
    const int index = running_.back();
    running_.pop_back();
    LayerSummary& layer = result_.layers[static_cast<size_t>(index)];
    Module& module = *modules_[static_cast<size_t>(index)];
    if (!has_children(module)) layer.description = module.describe();
    layer.output = y.shape();
    layer.dtype = y.dtype();
    layer.output_bytes = static_cast<uint64_t>(y.size()) * item_size(y.dtype());
    result_.output_bytes += layer.output_bytes;
    for (const Parameter& p : own_parameters(module)) {
      if (std::find(counted_.begin(), counted_.end(), p) != counted_.end()) continue;
      counted_.push_back(p);
      layer.parameters += p.size();
      if (p.grad_req() != GradReq::null) layer.trainable += p.size();
    }
    set_sources(*y.impl(), {index});
  }

  // Holds on to the tensor, so that no other one gets its address.
  void set_sources(TensorImpl& tensor, std::set<int> sources) {
    sources_[&tensor] = std::move(sources);
    held_.push_back(IntrusivePtr<TensorImpl>::share(&tensor));
  }

  NetSummary result_;
  std::map<const Module*, std::string> names_;
  std::vector<HookHandle> handles_;
  std::vector<Module*> modules_;  // of result_.layers
  std::vector<int> running_;      // layers that were entered and not left
  std::vector<Parameter> counted_;
  std::map<const TensorImpl*, std::set<int>> sources_;
  std::vector<IntrusivePtr<TensorImpl>> held_;
};

}  // namespace

NetSummary summarize(Module& net, const Tensor& input) {
  Observer observer(net, input);
  {
    const RecorderScope scope(observer);
    net(input);
  }
  NetSummary result = std::move(observer).take();
  const ParameterList parameters = net.parameters();
  result.parameters = parameters.element_count();
  result.parameter_bytes = parameters.bytes();
  result.trainable = parameters.trainable().element_count();
  result.gradient_bytes = parameters.trainable().bytes();
  return result;
}

NetSummary summarize(Module& net, const Shape& input, DType dtype) {
  return summarize(net, Tensor::zeros(input, {.dtype = dtype}));
}

std::string summary(Module& net, const Shape& input, DType dtype) {
  return to_string(summarize(net, input, dtype));
}

}  // namespace thalweg::nn
