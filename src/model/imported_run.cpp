#include "model/imported_run.h"

#include <algorithm>
#include <optional>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/call.h>

#include "base/fail.h"
#include "graph/trace.h"
#include "ops/random.h"

namespace thalweg::model {
namespace {

// Random ops draw new numbers, as many as the function that was exported.
void draw(const FormRecord& r, AttrBytes& attrs, int64_t n) {
  const RandomFields fields = random_fields(*r.op);
  if (!fields.seed) return;
  const Shape shape = shape_at(r.metas[0].shape, n, r.op->name);
  const RandomState state = reserve_numbers(*r.op, element_count(shape), r.metas[0].dtype);
  std::memcpy(attrs.data() + fields.seed->offset, &state.seed, sizeof state.seed);
  std::memcpy(attrs.data() + fields.offset->offset, &state.offset, sizeof state.offset);
}

}  // namespace

ImportedGraph::ImportedGraph(const Form& form, const FormGraph& graph,
                             const std::vector<std::shared_ptr<ImportedPart>>& parts)
    : form_(form), graph_(graph), values_(form.first_computed()) {
  for (const FormRecord& r : graph.records) values_ += r.outputs.size();
  find_calls(parts);
}

void ImportedGraph::find_calls(const std::vector<std::shared_ptr<ImportedPart>>& parts) {
  constexpr size_t kNever = ~size_t{0};
  std::vector<size_t> made(values_, kNever), used(values_, kNever);  // by which call
  const auto& records = graph_.records;
  for (size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    const int32_t layer = records[begin].layer;
    ImportedPart* part = layer == kAbsent ? nullptr : parts[static_cast<size_t>(layer)].get();
    const bool whole = part && !part->has_parts();
    end = begin + 1;
    while (whole && end < records.size() && records[end].layer == layer) ++end;
    Call call{begin, end, part, {}, kAbsent};
    for (size_t i = begin; i < end; ++i) {
      for (const int32_t in : records[i].inputs) {
        if (in == kAbsent) continue;
        const auto value = static_cast<size_t>(in);
        used[value] = calls_.size();
        const bool from_before = made[value] != calls_.size();
        const bool is_tensor = value >= form_.inputs.size() && value < form_.first_computed();
        if (from_before && !is_tensor &&
            std::find(call.inputs.begin(), call.inputs.end(), in) == call.inputs.end())
          call.inputs.push_back(in);
      }
      for (const int32_t out : records[i].outputs) {
        made[static_cast<size_t>(out)] = calls_.size();
        used[static_cast<size_t>(out)] = calls_.size();
      }
    }
    calls_.push_back(std::move(call));
  }
  for (const int32_t result : graph_.results) used[static_cast<size_t>(result)] = kNever;
  last_used_.resize(calls_.size());
  for (size_t value = form_.first_computed(); value < values_; ++value) {
    // The call's output is the first value that somebody else reads.
    if (used[value] != made[value] && calls_[made[value]].output == kAbsent)
      calls_[made[value]].output = static_cast<int32_t>(value);
    if (used[value] != kNever) last_used_[used[value]].push_back(static_cast<int32_t>(value));
  }
}

std::vector<Tensor> ImportedGraph::run(std::span<const Tensor> arguments,
                                       const std::vector<Tensor>& tensors, int64_t n) const {
  std::vector<Tensor> values(values_);
  std::copy(arguments.begin(), arguments.end(), values.begin());
  for (size_t i = 0; i < tensors.size(); ++i) values[arguments.size() + i] = tensors[i];
  for (size_t i = 0; i < calls_.size(); ++i) {
    run_call(calls_[i], values, n);
    for (const int32_t value : last_used_[i]) values[static_cast<size_t>(value)] = Tensor();
  }
  std::vector<Tensor> results;
  for (const int32_t result : graph_.results)
    results.push_back(values[static_cast<size_t>(result)]);
  return results;
}

void ImportedGraph::run_call(const Call& call, std::vector<Tensor>& values, int64_t n) const {
  const auto run_records = [&] {
    for (size_t i = call.begin; i < call.end; ++i) run_record(graph_.records[i], values, n);
    return call.output == kAbsent ? Tensor() : values[static_cast<size_t>(call.output)];
  };
  if (!call.part) {
    run_records();
    return;
  }
  if (call.part->has_parts() || call.output == kAbsent) {  // an op between layers
    const nn::detail::CallFrame frame(*call.part);
    try {
      run_records();
    } catch (Error& error) {
      nn::detail::set_place(error);
      throw;
    }
    return;
  }
  std::vector<Tensor> inputs;
  for (const int32_t in : call.inputs) inputs.push_back(values[static_cast<size_t>(in)]);
  values[static_cast<size_t>(call.output)] = call.part->call(run_records, inputs);
}

void ImportedGraph::run_record(const FormRecord& r, std::vector<Tensor>& values, int64_t n) const {
  std::vector<const TensorImpl*> inputs;
  for (const int32_t in : r.inputs)
    inputs.push_back(in == kAbsent ? nullptr : values[static_cast<size_t>(in)].impl());
  std::optional<Pause> pause;
  if (r.paused) pause.emplace(is_training() ? Mode::training : Mode::prediction);
  const bool changes = r.op->flags.random || (n != form_.batch && !r.varying.empty());
  AttrBytes attrs = changes ? attrs_at(r, n) : AttrBytes();
  if (r.op->flags.random) draw(r, attrs, n);
  const void* const used = changes ? attrs.data() : r.attrs.data();
  if (r.into != kAbsent) {
    // As in the net: a state without a history.
    std::vector<Tensor> plain;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) continue;
      plain.push_back(values[static_cast<size_t>(r.inputs[i])].detach());
      inputs[i] = plain.back().impl();
    }
    return call_into(*r.op, used, inputs, values[static_cast<size_t>(r.into)]);
  }
  if (r.outputs.size() == 1) {
    values[static_cast<size_t>(r.outputs[0])] = call_one(*r.op, used, inputs);
    return;
  }
  std::vector<Tensor> outputs = call_many(*r.op, used, inputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    values[static_cast<size_t>(r.outputs[i])] = std::move(outputs[i]);
}

}  // namespace thalweg::model
