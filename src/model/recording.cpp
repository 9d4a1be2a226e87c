#include "model/recording.h"

#include <thalweg/graph/autograd.h>

#include "base/fail.h"
#include "graph/trace.h"
#include "model/form.h"
#include "tensor/same.h"

namespace thalweg::model {
namespace {

std::set<const Op*> ops_of_table() {
  const auto rows = all_ops();
  return {rows.begin(), rows.end()};
}

// Sets the thread's listeners for a scope.
class Listening {
 public:
  Listening(Recorder* recorder, Tracer* tracer, HostObserver* observer, bool training)
      : mode_(thread_mode()), observer_(set_host_observer(observer)) {
    thread_mode() = {recorder, tracer, training};
  }
  ~Listening() {
    thread_mode() = mode_;
    set_host_observer(observer_);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  ThreadMode mode_;
  HostObserver* observer_;
};

class Recording final : public Recorder, public Tracer, public HostObserver {
 public:
  Recording(std::span<const Tensor> arguments, const nn::ParameterList& parameters,
            const LayerIndex& layers, bool training)
      : layers_(layers), training_(training) {
    for (size_t i = 0; i < arguments.size(); ++i)
      know(*arguments[i].impl(), add({RawValue::Kind::argument, i, arguments[i].meta(), {}}));
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor& data = parameters[i].parameter.data();
      know(*data.impl(), add({RawValue::Kind::parameter, i, data.meta(), {}}));
    }
  }

  RawGraph run(ModelFunction function, std::span<const Tensor> arguments) {
    const RandomState random = default_random_state();
    std::vector<Tensor> results;
    {
      const Listening scope(this, this, this, training_);
      results = function(arguments);
    }
    set_default_random_state(random);
    commit_pending();
    for (const Tensor& result : results) {
      if (!result.defined()) fail_invalid("export_model: the function gave an undefined tensor");
      graph_.results.push_back(resolve(*result.impl()));
    }
    if (!refusal_.empty()) fail_invalid("export_model: {}", refusal_);
    return std::move(graph_);
  }

  void run(const Kernel& kernel, const KernelContext& context) override {
    commit_pending();
    RawRecord r;
    r.op = &context.op();
    r.layer = layer();
    if (const size_t bytes = r.op->attrs().bytes) r.attrs = AttrBytes(context.raw_attrs(), bytes);
    for (size_t i = 0; i < context.inputs(); ++i)
      r.inputs.push_back(context.has(i) ? resolve(context.in(i)) : kAbsent);
    for (size_t i = 0; i < context.outputs(); ++i) pending_outputs_.push_back(hold(context.out(i)));
    pending_ = std::move(r);
    if (changed_in_place(context.out())) return;
    const Listening inside(thread_mode().recorder, nullptr, nullptr, thread_mode().training);
    kernel.run(context);
  }

  void record(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
              std::span<TensorImpl* const> outputs) override {
    if (!pending_ || pending_->op != &op || pending_outputs_[0] != outputs[0]) {
      commit_pending();
      RawRecord& r = pending_.emplace();
      r.op = &op;
      r.layer = layer();
      if (const size_t bytes = op.attrs().bytes) r.attrs = AttrBytes(attrs, bytes);
      for (const TensorImpl* in : inputs) r.inputs.push_back(in ? resolve(*in) : kAbsent);
      for (TensorImpl* out : outputs) pending_outputs_.push_back(hold(*out));
    }
    static const std::set<const Op*> table = ops_of_table();
    if (!table.count(&op)) {
      refuse(fmt::format("{} is no op of the table, so that no file can name it",
                         op.name == std::string_view("function")
                             ? "a function with a gradient of its own"
                             : op.name));
    }
    commit(false);
  }

  void drew(RandomState, uint64_t) override {}
  void host(const HostWork& work) override {
    refuse(fmt::format("the host works between ops ({})", work.name));
  }
  void end_host() override {}
  void refuse(std::string reason) override {
    if (!refusal_.empty()) return;
    const int32_t at = layer();
    refusal_ = std::move(reason);
    if (at >= 0 && !layers_.places[static_cast<size_t>(at)].empty())
      refusal_ += ", in " + layers_.places[static_cast<size_t>(at)];
  }

 private:
  void host_access(const TensorImpl& tensor, const char* operation) override {
    const auto known = by_storage_.find(tensor.storage->id());
    if (known == by_storage_.end()) return;  // numbers that the host puts in
    if (graph_.values[static_cast<size_t>(known->second.front())].kind == RawValue::Kind::constant)
      return;
    refuse(
        fmt::format("the host looks at the elements of a tensor {} {} ({}), and records cannot "
                    "say what it does with them",
                    name(tensor.meta.dtype), to_string(tensor.meta.shape), operation));
  }

  // The innermost layer of the net that runs.
  int32_t layer() const {
    for (const auto* frame = nn::detail::CallFrame::current(); frame; frame = frame->outer()) {
      const auto found = layers_.positions.find(&frame->module());
      if (found != layers_.positions.end()) return found->second;
    }
    return kAbsent;
  }

  TensorImpl* hold(const TensorImpl& tensor) {
    held_.push_back(IntrusivePtr<TensorImpl>::share(const_cast<TensorImpl*>(&tensor)));
    return held_.back().get();
  }

  int32_t add(RawValue value) {
    graph_.values.push_back(std::move(value));
    return static_cast<int32_t>(graph_.values.size()) - 1;
  }

  void know(const TensorImpl& tensor, int32_t value) {
    hold(tensor);
    by_impl_[&tensor] = value;
    by_storage_[tensor.storage->id()].push_back(value);
  }

  int32_t resolve(const TensorImpl& tensor) {
    if (const auto found = by_impl_.find(&tensor); found != by_impl_.end()) return found->second;
    const auto same = by_storage_.find(tensor.storage->id());
    if (same == by_storage_.end()) return add_constant(tensor);
    for (const int32_t value : same->second) {
      if (!same_meta(graph_.values[static_cast<size_t>(value)].meta, tensor.meta)) continue;
      hold(tensor);
      by_impl_[&tensor] = value;
      return value;
    }
    refuse(fmt::format("it shows a part of a tensor, {} {}, that no op cut out",
                       name(tensor.meta.dtype), to_string(tensor.meta.shape)));
    return add_constant(tensor);
  }

  int32_t add_constant(const TensorImpl& tensor) {
    const Listening alone(nullptr, nullptr, nullptr, false);
    if (tensor.is_recorded()) refuse("it uses a tensor with a history that was recorded outside");
    if (tensor.is_leaf()) {
      refuse(fmt::format("it uses a tensor {} {} with a gradient that is none of the parameters",
                         name(tensor.meta.dtype), to_string(tensor.meta.shape)));
    }
    const Tensor content = row_major_copy(tensor);
    const int32_t value = add({RawValue::Kind::constant, 0, content.meta(), content});
    know(tensor, value);
    graph_.values[static_cast<size_t>(value)].meta = tensor.meta;
    return value;
  }

  bool changed_in_place(const TensorImpl& out) const {
    const auto known = by_storage_.find(out.storage->id());
    return known != by_storage_.end();
  }

  // A kernel that no record followed ran inside a Pause, or changed a tensor in place.
  void commit_pending() {
    if (!pending_) return;
    const TensorImpl& out = *pending_outputs_[0];
    if (changed_in_place(out)) {
      pending_->into = resolve(out);
      const RawValue::Kind kind = graph_.values[static_cast<size_t>(pending_->into)].kind;
      if (kind != RawValue::Kind::parameter)
        refuse(
            fmt::format("{} changes a tensor in place that is no parameter", pending_->op->name));
    }
    commit(true);
  }

  void commit(bool paused) {
    pending_->paused = paused;
    for (const TensorImpl* out : pending_outputs_) {
      if (pending_->into != kAbsent) break;
      pending_->outputs.push_back(add({RawValue::Kind::computed, 0, out->meta, {}}));
      know(*out, pending_->outputs.back());
    }
    graph_.records.push_back(std::move(*pending_));
    pending_.reset();
    pending_outputs_.clear();
  }

  const LayerIndex& layers_;
  const bool training_;
  RawGraph graph_;
  std::string refusal_;
  std::optional<RawRecord> pending_;
  std::vector<TensorImpl*> pending_outputs_;
  std::unordered_map<const TensorImpl*, int32_t> by_impl_;
  std::unordered_map<uint64_t, std::vector<int32_t>> by_storage_;  // by its id
  std::vector<IntrusivePtr<TensorImpl>> held_;
};

}  // namespace

LayerIndex::LayerIndex(nn::Module* net) {
  if (!net) return;
  net->walk([&](const std::string& path, nn::Module& module) {
    positions.emplace(&module, static_cast<int32_t>(places.size()));
    places.push_back(path.empty() ? "" : fmt::format("{} ({})", path, module.type_name()));
  });
}

RawGraph record_function(ModelFunction function, std::span<const Tensor> arguments,
                         const nn::ParameterList& parameters, const LayerIndex& layers,
                         bool training) {
  return Recording(arguments, parameters, layers, training).run(function, arguments);
}

}  // namespace thalweg::model
