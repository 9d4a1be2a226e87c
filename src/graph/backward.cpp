#include "graph/backward.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include <thalweg/ops/pointwise.h>

#include "base/fail.h"
#include "graph/leaf.h"
#include "graph/trace.h"

namespace thalweg {

namespace {

std::atomic<uint64_t> g_next_pass{1};

bool owns_alone(const Tensor& tensor) {
  return tensor.impl()->use_count() == 1 && tensor.impl()->storage->use_count() == 1;
}

[[noreturn, gnu::cold]] void fail_plan_result(size_t i, const TensorImpl& head) {
  fail_invalid(
      "backward: head {} of shape {} {} is the result of a planned function or hybridized net, "
      "and such have no history; call backward() inside the planned function, or call the "
      "function inside a Record scope, where it runs as it is",
      i, to_string(head.meta.shape), name(head.meta.dtype));
}

[[noreturn, gnu::cold]] void fail_consumed(const char* what) {
  fail_invalid(
      "backward: the history of {} was used by an earlier backward; pass {{.retain = true}} to "
      "that "
      "one to use it twice",
      what);
}

Tensor head_gradient(const Tensor& head, const Tensor& given) {
  if (!given.defined()) return Tensor::ones(head.shape(), {head.dtype(), head.device()});
  if (given.shape() != head.shape() || given.dtype() != head.dtype()) {
    fail_invalid("backward: gradient of shape {} {} given for a head of shape {} {}",
                 to_string(given.shape()), name(given.dtype()), to_string(head.shape()),
                 name(head.dtype()));
  }
  return given;
}

// Puts `gradient` in the place of the leaf's, without a copy where nobody else holds its memory.
void write_leaf(Leaf& leaf, Tensor gradient, bool keep_history) {
  if (keep_history || !leaf.grad.defined()) {
    const bool shared = !keep_history && !owns_alone(gradient);
    leaf.grad = shared || !gradient.is_contiguous() ? gradient.clone() : std::move(gradient);
    return;
  }
  TensorImpl& target = *leaf.grad.impl();
  target.segment.reset();
  if (owns_alone(gradient) && gradient.is_contiguous()) {
    target.take(*gradient.impl());
  } else {
    leaf.grad.assign(gradient);
  }
}

}  // namespace

uint64_t next_backward_pass() { return g_next_pass.fetch_add(1, std::memory_order_relaxed); }

std::unique_ptr<Backward::Scratch>& Backward::kept_scratch() {
  static thread_local std::unique_ptr<Scratch> kept;
  return kept;
}

Backward::Backward(BackwardOptions options, Target target)
    : options_(options),
      takes_rows_(target == Target::leaves && !options.create_graph),
      scratch_(std::move(kept_scratch())) {
  options_.retain = options.retain || options.create_graph;
  if (!scratch_) scratch_ = std::make_unique<Scratch>();
}

Backward::~Backward() {
  if (!finished_) return;  // an error left tensors behind
  scratch_->pending.clear();
  scratch_->reached.clear();
  scratch_->reached_rows.clear();
  kept_scratch() = std::move(scratch_);
}

Backward::Pending& Backward::pending(Segment& segment) {
  for (Pending& p : scratch_->pending) {
    if (p.segment.get() == &segment) return p;
  }
  if (CallTracer* trace = active_trace()) trace->walks(segment.serial());
  Pending& p = scratch_->pending.emplace_back();
  if (!scratch_->free_grads.empty()) {
    p.grads = std::move(scratch_->free_grads.back());
    scratch_->free_grads.pop_back();
  }
  p.segment = IntrusivePtr<Segment>::share(&segment);
  p.grads.resize(segment.values().size());
  return p;
}

void Backward::start(std::span<const Tensor> heads, std::span<const Tensor> head_grads) {
  if (!head_grads.empty() && head_grads.size() != heads.size()) {
    fail_invalid("backward: {} heads and {} gradients of heads", heads.size(), head_grads.size());
  }
  for (size_t i = 0; i < heads.size(); ++i) {
    const Tensor& head = heads[i];
    if (!head.defined()) fail_invalid("backward: head {} is an undefined tensor", i);
    Tensor g = head_gradient(head, head_grads.empty() ? Tensor() : head_grads[i]);
    const TensorImpl& impl = *head.impl();
    if (impl.is_leaf()) {
      scratch_->reached.push_back({IntrusivePtr<TensorImpl>::share(head.impl()), std::move(g)});
      continue;
    }
    if (!impl.is_recorded()) {
      if (impl.value == kPlanResult) fail_plan_result(i, impl);
      fail_invalid(
          "backward: head {} of shape {} {} has no recorded history; compute it inside a Record "
          "scope, from tensors with attach_grad()",
          i, to_string(head.shape()), name(head.dtype()));
    }
    Segment& segment = *segment_of(impl);
    if (segment.cleared()) fail_consumed("the head");
    accumulate(pending(segment).grads[impl.value], std::move(g));
  }
}

void Backward::run() {
  std::optional<Record> record;
  std::optional<Pause> pause;
  // The pass must not record on a segment that it walks.
  if (options_.create_graph) {
    record.emplace(is_training() ? Mode::training : Mode::prediction);
    thread_tape().begin();
  } else {
    pause.emplace(is_training() ? Mode::training : Mode::prediction);
  }
  std::vector<Pending>& pending = scratch_->pending;
  while (!pending.empty()) {
    const auto newest =
        std::max_element(pending.begin(), pending.end(), [](const Pending& a, const Pending& b) {
          return a.segment->serial() < b.segment->serial();
        });
    std::swap(*newest, pending.back());
    Pending work = std::move(pending.back());
    pending.pop_back();
    walk(work);
    work.grads.clear();
    scratch_->free_grads.push_back(std::move(work.grads));
  }
  finished_ = true;
}

void Backward::walk(Pending& work) {
  const std::span<TapeRecord> records = work.segment->records();
  for (size_t i = records.size(); i-- > 0;) {
    TapeRecord& r = records[i];
    bool reached = false;
    for (uint32_t o = 0; o < r.outputs; ++o) {
      reached = reached || work.grads[r.first_output + o].defined();
    }
    if (reached) differentiate(work, r);
  }
  collect(work);
  if (!options_.retain) {
    bool all_consumed = true;
    for (const TapeRecord& r : records) all_consumed = all_consumed && r.consumed;
    if (all_consumed) work.segment->clear();
  }
}

void Backward::differentiate(Pending& work, TapeRecord& r) {
  if (r.consumed) fail_consumed(r.op->name);
  if (!r.op->vjp) {
    fail_invalid("backward: {} has no gradient: {}", r.op->name,
                 r.op->no_gradient ? r.op->no_gradient : "none is defined");
  }
  fill_context(work, r);
  r.op->vjp(context_);
  pass_on(work, r);
  if (!options_.retain) let_go(*work.segment, r);
}

void Backward::fill_context(Pending& work, const TapeRecord& r) {
  Segment& segment = *work.segment;
  const std::span<TapeValue> values = segment.values();
  const std::span<const uint32_t> ids = segment.input_ids(r);
  Scratch& s = *scratch_;
  if (s.results.size() < r.inputs) {
    s.needs.resize(r.inputs);
    s.results.resize(r.inputs);
    s.rows.resize(r.inputs);
    s.saved_in.resize(r.inputs);
    s.in_metas.resize(r.inputs);
  }
  if (s.out_grads.size() < r.outputs) {
    s.out_grads.resize(r.outputs);
    s.saved_out.resize(r.outputs);
    s.out_metas.resize(r.outputs);
  }
  Saves saves;
  for (size_t i = 0; i < r.inputs; ++i) {
    if (ids[i] == Segment::kNoValue) {
      s.needs[i] = false;
      s.in_metas[i] = nullptr;
      continue;
    }
    const TapeValue& value = values[ids[i]];
    s.needs[i] = value.kind != ValueKind::constant && is_floating(value.meta.dtype);
    s.in_metas[i] = &value.meta;
    if (!s.needs[i]) continue;
    const bool is_leaf = value.kind == ValueKind::leaf && value.meta.device == Device::cpu();
    if (is_leaf && takes_rows_) s.needs[i] = VjpContext::kTakesRows;
    const Saves& needed = r.op->saves[i < Op::kMaxSaves ? i : 0];
    saves.inputs |= needed.inputs;
    saves.outputs |= needed.outputs;
  }
  for (size_t i = 0; i < r.inputs && i < 16; ++i) {
    if (saves.inputs >> i & 1 && ids[i] != Segment::kNoValue) {
      s.saved_in[i] = saved_tensor(segment, ids[i], *r.op);
    }
  }
  for (uint32_t o = 0; o < r.outputs; ++o) {
    const uint32_t id = r.first_output + o;
    if (saves.outputs >> o & 1) s.saved_out[o] = saved_tensor(segment, id, *r.op);
    s.out_metas[o] = &values[id].meta;
    s.out_grads[o] = std::move(work.grads[id]);
  }
  context_.op_ = r.op;
  context_.attrs_ = segment.attrs(r);
  context_.creates_graph_ = options_.create_graph;
  context_.needs_ = {s.needs.data(), r.inputs};
  context_.grads_ = {s.out_grads.data(), r.outputs};
  context_.saved_inputs_ = {s.saved_in.data(), r.inputs};
  context_.saved_outputs_ = {s.saved_out.data(), r.outputs};
  context_.input_metas_ = {s.in_metas.data(), r.inputs};
  context_.output_metas_ = {s.out_metas.data(), r.outputs};
  context_.results_ = {s.results.data(), r.inputs};
  context_.rows_ = {s.rows.data(), r.inputs};
}

// A saved value as a tensor again; with its history when gradients are to be differentiated.
Tensor Backward::saved_tensor(Segment& segment, uint32_t id, const Op& op) {
  const TapeValue& value = segment.values()[id];
  THALWEG_ASSERT(value.saved);
  if (value.saved->version() != value.version) {
    fail_invalid(
        "backward: a tensor of shape {} that the gradient of {} needs was changed in place after "
        "it "
        "was recorded; change a clone() instead",
        to_string(value.meta.shape), op.name);
  }
  if (options_.create_graph && value.kind == ValueKind::leaf) {
    return Tensor(value.leaf);
  }
  IntrusivePtr<TensorImpl> impl = TensorImpl::create();
  impl->meta = value.meta;
  impl->alias(value.saved);
  if (options_.create_graph && is_floating(value.meta.dtype)) {
    if (value.kind == ValueKind::computed) {
      impl->segment = IntrusivePtr<TapeSegment>::share(&segment);
      impl->value = id;
    } else if (value.kind == ValueKind::foreign) {
      impl->segment = IntrusivePtr<TapeSegment>::share(value.foreign.get());
      impl->value = value.foreign_value;
    }
  }
  return Tensor(std::move(impl));
}

void Backward::pass_on(Pending& work, const TapeRecord& r) {
  const std::span<const uint32_t> ids = work.segment->input_ids(r);
  for (size_t i = 0; i < r.inputs; ++i) {
    Tensor result = std::move(scratch_->results[i]);
    scratch_->saved_in[i] = Tensor();
    if (scratch_->needs[i] == VjpContext::kTakesRows && scratch_->rows[i].defined()) {
      pass_on_rows(work.segment->values()[ids[i]], *r.op, std::exchange(scratch_->rows[i], {}));
      continue;
    }
    if (!scratch_->needs[i] || !result.defined()) continue;
    const TensorMeta& meta = work.segment->values()[ids[i]].meta;
    if (result.shape() != meta.shape || result.dtype() != meta.dtype) {
      fail(ErrorKind::internal, "{}: gradient of input {} is {} {}, not {} {}; please report this",
           r.op->name, i, name(result.dtype()), to_string(result.shape()), name(meta.dtype),
           to_string(meta.shape));
    }
    accumulate(work.grads[ids[i]], std::move(result));
  }
  for (uint32_t o = 0; o < r.outputs; ++o) {
    scratch_->out_grads[o] = Tensor();
    scratch_->saved_out[o] = Tensor();
  }
}

void Backward::pass_on_rows(const TapeValue& value, const Op& op, RowGradient gradient) {
  if (CallTracer* trace = active_trace())
    trace->refuse(fmt::format(
        "the gradient that {} gives its {} is row-sparse: how many rows it has depends on elements",
        op.name, to_string(value.meta.shape)));
  scratch_->reached_rows.push_back({value.leaf, std::move(gradient)});
}

void Backward::accumulate(Tensor& total, Tensor gradient) {
  if (!total.defined()) {
    total = std::move(gradient);
  } else if (!options_.create_graph && owns_alone(total) &&
             total.strides() == row_major_strides(total.shape())) {
    total += gradient;
  } else {
    total = total + gradient;
  }
}

// Values that only this record's vjp, or records after it, needed.
void Backward::let_go(Segment& segment, TapeRecord& r) {
  r.consumed = true;
  for (uint32_t o = 0; o < r.outputs; ++o) segment.values()[r.first_output + o].saved.reset();
  for (uint32_t id : segment.input_ids(r)) {
    if (id == Segment::kNoValue) continue;
    TapeValue& value = segment.values()[id];
    if (value.kind != ValueKind::computed) value.saved.reset();
  }
}

void Backward::collect(Pending& work) {
  const std::span<TapeValue> values = work.segment->values();
  for (size_t id = 0; id < values.size(); ++id) {
    if (!work.grads[id].defined()) continue;
    TapeValue& value = values[id];
    if (value.kind == ValueKind::leaf) {
      scratch_->reached.push_back(
          {options_.retain ? value.leaf : std::move(value.leaf), std::move(work.grads[id])});
    } else if (value.kind == ValueKind::foreign) {
      if (value.foreign->cleared()) fail_consumed("a value of an earlier Record scope");
      accumulate(pending(*value.foreign).grads[value.foreign_value], std::move(work.grads[id]));
    }
  }
}

void Backward::write_leaves() {
  const uint64_t pass = next_backward_pass();
  Pause pause;
  if (CallTracer* trace = active_trace()) trace->begin_backward();
  for (Reached& r : scratch_->reached) {
    Leaf& leaf = leaf_of(*r.leaf);
    if (leaf.req == GradReq::null) continue;
    if (CallTracer* trace = active_trace()) trace->wrote_gradient(*r.leaf);
    const bool adds = leaf.req == GradReq::add || leaf.last_backward == pass;
    leaf.last_backward = pass;
    if (adds)
      leaf.make_dense(r.leaf->meta.shape);
    else
      leaf.rows = {};
    if (adds && leaf.grad.defined()) {
      if (options_.create_graph)
        leaf.grad = leaf.grad + r.grad;
      else
        leaf.grad += r.grad;
    } else {
      write_leaf(leaf, std::move(r.grad), options_.create_graph);
    }
  }
  for (ReachedRows& r : scratch_->reached_rows) {
    Leaf& leaf = leaf_of(*r.leaf);
    if (leaf.req == GradReq::null) continue;
    const bool adds = leaf.req == GradReq::add || leaf.last_backward == pass;
    leaf.last_backward = pass;
    leaf.write_rows(std::move(r.grad), adds, r.leaf->meta.shape);
  }
}

std::vector<Tensor> Backward::take(std::span<const Tensor> variables) {
  std::vector<Tensor> results(variables.size());
  std::optional<Record> record;
  if (options_.create_graph) record.emplace();
  for (size_t i = 0; i < variables.size(); ++i) {
    for (Reached& r : scratch_->reached) {
      if (r.leaf.get() == variables[i].impl()) {
        results[i] = results[i].defined() ? results[i] + r.grad : r.grad;
      }
    }
    if (!results[i].defined()) {
      fail_invalid(
          "grad: no head depends on variable {} of shape {}; it must be a leaf (attach_grad) used "
          "inside the Record scope",
          i, to_string(variables[i].shape()));
    }
  }
  return results;
}

}  // namespace thalweg
