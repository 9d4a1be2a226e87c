#include <map>
#include <set>

#include <fmt/format.h>

#include <thalweg/nn/plot.h>

#include "graph/diagram_colours.h"
#include "graph/plan_diagram.h"
#include "nn/recorder_scope.h"
#include "nn/visit.h"

namespace thalweg::nn {
namespace {

constexpr int kNowhere = -1;

bool has_children(Module& module) {
  bool found = false;
  visit_children(module, [&](std::string_view, Module&) { found = true; });
  return found;
}

int64_t parameter_count(Module& module) {
  int64_t count = 0;
  visit_parameters(module, [&](std::string_view, Parameter& p) { count += p.size(); });
  return count;
}

std::string grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), 1, ',');
  return digits;
}

// Layers without children are boxes, whatever they do inside; ops outside of them are boxes of
// their own. Every tensor on the way from the input is known with the box that made it.
class Plotter final : public Recorder {
 public:
  Plotter(Module& net, const Tensor& input) {
    diagram_.nodes.push_back({"input", "input", "input", ""});
    made(*input.impl(), 0);
    net.walk([&](const std::string& path, Module& module) {
      if (has_children(module) || !paths_.emplace(&module, path).second) return;
      handles_.push_back(module.add_pre_hook(
          [this](Module& m, std::span<const Tensor> inputs) { enter(m, inputs); }));
      handles_.push_back(module.add_hook(
          [this](Module& m, std::span<const Tensor> inputs, Tensor& y) { leave(m, inputs, y); }));
    });
  }

  void record(const Op& op, const void*, std::span<const TensorImpl* const> inputs,
              std::span<TensorImpl* const> outputs) override {
    int node = layer_;
    if (node == kNowhere) {
      bool leads_here = false;
      for (const TensorImpl* in : inputs) leads_here = leads_here || maker_of(in) != kNowhere;
      if (!leads_here) return;  // made of weights alone
      node = add_node(fmt::format("{} {}", op.name, diagram_.nodes.size()), op.name,
                      std::string(kind_of_op(op)));
    }
    for (const TensorImpl* in : inputs) flows(in, node);
    for (TensorImpl* out : outputs) made(*out, node);
  }

  Diagram take() && { return std::move(diagram_); }

 private:
  void enter(Module& module, std::span<const Tensor> inputs) {
    std::string id = paths_.at(&module);
    if (id.empty()) id = "net";
    if (const int calls = ++calls_[id]; calls > 1) id += fmt::format(" ({})", calls);
    layer_ = add_node(id, module.type_name(), std::string(kind_of_type(module.type_name())));
    for (const Tensor& in : inputs) flows(in.impl(), layer_);
  }

  // A layer that gives back its input gives a view of it: who reads that, reads this layer's.
  void leave(Module& module, std::span<const Tensor> inputs, Tensor& y) {
    for (const Tensor& in : inputs) {
      if (in.impl() == y.impl()) y = y.detach();
    }
    made(*y.impl(), layer_);
    DiagramNode& node = diagram_.nodes[static_cast<size_t>(layer_)];
    node.label = module.describe();
    if (const int64_t count = parameter_count(module))
      node.detail = grouped(count) + (count == 1 ? " parameter" : " parameters");
    layer_ = kNowhere;
  }

  int add_node(std::string id, std::string label, std::string kind) {
    diagram_.nodes.push_back({std::move(id), std::move(label), std::move(kind), ""});
    return static_cast<int>(diagram_.nodes.size()) - 1;
  }

  int maker_of(const TensorImpl* tensor) const {
    const auto found = makers_.find(tensor);
    return found == makers_.end() ? kNowhere : found->second;
  }

  // Holds on to the tensor, so that no other one gets its address.
  void made(TensorImpl& tensor, int node) {
    makers_[&tensor] = node;
    held_.push_back(IntrusivePtr<TensorImpl>::share(&tensor));
  }

  void flows(const TensorImpl* tensor, int to) {
    const int from = maker_of(tensor);
    if (from == kNowhere || from == to || !edges_.emplace(from, to).second) return;
    diagram_.edges.push_back({diagram_.nodes[static_cast<size_t>(from)].id,
                              diagram_.nodes[static_cast<size_t>(to)].id,
                              dims_text(tensor->meta.shape, 1)});
  }

  Diagram diagram_;
  std::map<const Module*, std::string> paths_;
  std::map<std::string, int> calls_;
  std::vector<HookHandle> handles_;
  int layer_ = kNowhere;  // the node of the layer that runs
  std::map<const TensorImpl*, int> makers_;
  std::set<std::pair<int, int>> edges_;
  std::vector<IntrusivePtr<TensorImpl>> held_;
};

}  // namespace

Diagram diagram(Module& net, const Tensor& input) {
  Plotter plotter(net, input);
  {
    const RecorderScope scope(plotter);
    net(input);
  }
  return std::move(plotter).take();
}

std::string plot_network(Module& net, const Shape& input, PlotOptions options) {
  const Diagram drawn = diagram(net, Tensor::zeros(input, {.dtype = options.dtype}));
  return options.format == PlotFormat::dot ? to_dot(drawn) : to_svg(drawn);
}

}  // namespace thalweg::nn
