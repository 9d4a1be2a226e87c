#include "graph/program.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <thalweg/base/clock.h>

#include "base/fail.h"
#include "graph/backward.h"
#include "graph/launch_graphs.h"
#include "graph/leaf.h"
#include "graph/profiler.h"
#include "graph/tape.h"
#include "tensor/same.h"

namespace thalweg {
namespace {

void keep_nothing(void*) {}

IntrusivePtr<Storage> part(Device device, void* data, size_t bytes) {
  return Storage::borrow(device, data, bytes, keep_nothing, nullptr);
}

}  // namespace

void Program::Slot::show(void* data) {
  if (view->data() == data) return;
  view->move_to(data);
  for (TensorImpl* operand : operands) {
    operand->data = static_cast<char*>(data) +
                    operand->meta.offset * static_cast<int64_t>(item_size(operand->meta.dtype));
  }
}

Program::Program(PlanGraph graph)
    : graph_(std::move(graph)),
      memory_(plan_memory(graph_)),
      storages_(graph_.buffers.size()),
      slot_of_(graph_.buffers.size(), kNoIndex),
      operands_of_(graph_.buffers.size()) {
  place_buffers();
  size_t inputs = 0, outputs = 0;
  for (const PlanRecord& r : graph_.records) {
    inputs += r.inputs.size();
    outputs += r.outputs.size();
  }
  inputs_.reserve(inputs);
  outputs_.reserve(outputs);
  steps_.reserve(graph_.records.size());
  for (uint32_t i = 0; i < graph_.records.size(); ++i) add_step(i);
  for (std::vector<Slot>* slots : {&argument_slots_, &gradient_slots_, &result_slots_}) {
    for (Slot& slot : *slots) slot.operands = operands_of_[slot.buffer];
  }
  for (const auto& e : graph_.externals) guards_.push_back({e->storage->id(), req_of(*e), 1});
  for (size_t i = 0; i < guards_.size(); ++i) {
    const auto& e = graph_.externals[i];
    for (const TraceGradient& g : graph_.gradients) guards_[i].handles += g.leaf == e;
    for (const TraceResult& r : graph_.results) guards_[i].handles += r.tensor == e;
  }
  make_launch_graphs();
}

void Program::discount(const Trace& trace) {
  std::unordered_map<const TensorImpl*, uint32_t> handles;
  for (const auto& e : trace.externals()) ++handles[e.get()];
  for (const TraceStep& step : trace.steps()) {
    if (step.kind != TraceStep::Kind::backward) continue;
    for (const auto& leaf : trace.leaves(step)) ++handles[leaf.get()];
  }
  for (const TraceGradient& g : trace.gradients()) ++handles[g.leaf.get()];
  for (const TraceResult& r : trace.results()) ++handles[r.tensor.get()];
  for (size_t i = 0; i < guards_.size(); ++i)
    guards_[i].handles += handles[graph_.externals[i].get()];
}

Program::~Program() = default;

void Program::place_buffers() {
  if (memory_.bytes) {
    Device device;
    for (const PlanBuffer& b : graph_.buffers) {
      if (b.kind == PlanBuffer::Kind::temporary) device = b.device;
    }
    arena_ = Storage::allocate(device, memory_.bytes);
  }
  for (uint32_t i = 0; i < graph_.buffers.size(); ++i) {
    const PlanBuffer& b = graph_.buffers[i];
    std::vector<Slot>* slots = nullptr;
    switch (b.kind) {
      case PlanBuffer::Kind::external:
      case PlanBuffer::Kind::constant:
        storages_[i] = b.storage;
        break;
      case PlanBuffer::Kind::temporary:
        storages_[i] = part(
            b.device, arena_ ? static_cast<char*>(arena_->data()) + memory_.offsets[i] : nullptr,
            b.bytes);
        break;
      case PlanBuffer::Kind::argument:
        slots = &argument_slots_;
        break;
      case PlanBuffer::Kind::gradient:
        slots = &gradient_slots_;
        break;
      case PlanBuffer::Kind::result:
        slots = &result_slots_;
        break;
    }
    if (!slots) continue;
    storages_[i] = part(b.device, nullptr, b.bytes);
    slot_of_[i] = static_cast<uint32_t>(slots->size());
    Slot& slot = slots->emplace_back();
    slot.buffer = i;
    slot.view = storages_[i];
  }
}

TensorImpl* Program::operand(const TraceOperand& operand) {
  for (TensorImpl* known : operands_of_[operand.buffer]) {
    if (same_meta(known->meta, operand.meta)) return known;
  }
  IntrusivePtr<TensorImpl> impl = TensorImpl::create();
  impl->meta = operand.meta;
  impl->alias(storages_[operand.buffer]);
  operands_of_[operand.buffer].push_back(impl.get());
  operands_.push_back(std::move(impl));
  return operands_.back().get();
}

void Program::add_step(uint32_t record) {
  PlanRecord& r = graph_.records[record];
  const size_t first_in = inputs_.size(), first_out = outputs_.size();
  const auto first_bump = static_cast<uint32_t>(bumps_.size());
  for (const TraceOperand& in : r.inputs)
    inputs_.push_back(in.buffer == kNoIndex ? nullptr : operand(in));
  for (const TraceOperand& out : r.outputs) {
    outputs_.push_back(operand(out));
    const PlanBuffer& b = graph_.buffers[out.buffer];
    if (b.kind == PlanBuffer::Kind::argument) argument_slots_[slot_of_[out.buffer]].written = true;
    if (b.kind != PlanBuffer::Kind::external) continue;
    bumps_.push_back(b.storage.get());
    if (std::ranges::find(written_externals_, b.storage->id()) == written_externals_.end())
      written_externals_.push_back(b.storage->id());
  }
  const bool is_kernel = r.kind == TraceStep::Kind::kernel;
  const Op& op = is_kernel ? *r.op : copy_buffer_op();
  steps_.push_back({is_kernel ? r.kernel.run : nullptr,
                    KernelContext(op, r.attrs.data(), {inputs_.data() + first_in, r.inputs.size()},
                                  {outputs_.data() + first_out, r.outputs.size()}),
                    record, first_bump, static_cast<uint32_t>(bumps_.size()) - first_bump});
  if (r.kind == TraceStep::Kind::draw) {
    draw_seeds_.resize(std::max<size_t>(draw_seeds_.size(), r.draw + 1));
    draw_offsets_.resize(draw_seeds_.size());
  } else if (is_kernel && r.draw != kNoIndex) {
    const RandomFields fields = random_fields(*r.op);
    draw_seeds_[r.draw].push_back(r.attrs.data() + fields.seed->offset);
    draw_offsets_[r.draw].push_back(r.attrs.data() + fields.offset->offset);
  }
}

const char* Program::refusal(std::span<const TensorImpl* const> arguments) const {
  for (size_t i = 0; i < graph_.externals.size(); ++i) {
    const TensorImpl& e = *graph_.externals[i];
    if (e.use_count() <= guards_[i].handles) return "a tensor that it used is gone";
    if (e.is_recorded()) return "a tensor that it uses has a history that was recorded outside";
    if (req_of(e) != guards_[i].req) return "a parameter was frozen or unfrozen";
    if (e.storage->id() != guards_[i].storage) return "a tensor that it uses has other memory";
  }
  for (const TensorImpl* argument : arguments) {
    if (!argument) continue;
    for (const uint64_t id : written_externals_) {
      if (argument->storage->id() == id) return "an argument is a tensor that it changes";
    }
    for (const TraceGradient& gradient : graph_.gradients) {
      if (leaf_of(*gradient.leaf).grad.impl() == argument)
        return "an argument is a gradient that it writes";
    }
  }
  return nullptr;
}

void Program::bind_arguments(std::span<const TensorImpl* const> arguments, bool bumps) {
  for (Slot& slot : argument_slots_) {
    const TensorImpl& argument = *arguments[graph_.buffers[slot.buffer].index];
    slot.show(argument.data);
    if (slot.written && bumps) argument.storage->bump_version();
  }
}

// The gradient's memory is the leaf's, and a new one where somebody else holds it: as in backward,
// which gives the leaf new memory each time.
void Program::bind_gradient(Slot& slot) {
  const PlanBuffer& buffer = graph_.buffers[slot.buffer];
  const TraceGradient& gradient = graph_.gradients[buffer.index];
  Leaf& leaf = leaf_of(*gradient.leaf);
  leaf.make_dense(gradient.leaf->meta.shape);
  if (leaf.grad.defined()) {
    TensorImpl& impl = *leaf.grad.impl();
    const bool alone = impl.storage->use_count() == 1;
    if (alone && impl.storage->id() == slot.bound) return;
    if (alone && impl.storage->bytes() == buffer.bytes &&
        same_meta(impl.meta, gradient.value.meta)) {
      slot.bound = impl.storage->id();
      return slot.show(impl.storage->data());
    }
  } else {
    leaf.grad = Tensor(TensorImpl::create());
  }
  TensorImpl& impl = *leaf.grad.impl();
  impl.segment.reset();
  impl.meta = gradient.value.meta;
  impl.alias(Storage::allocate(buffer.device, buffer.bytes));
  slot.bound = impl.storage->id();
  slot.show(impl.storage->data());
}

void Program::bind_results() {
  for (Slot& slot : result_slots_) {
    const PlanBuffer& buffer = graph_.buffers[slot.buffer];
    slot.made = Storage::allocate(buffer.device, buffer.bytes);
    slot.show(slot.made->data());
  }
}

void Program::give_results(std::span<const TensorImpl* const> arguments,
                           std::span<Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const TraceResult& r = graph_.results[i];
    const auto share = [](const TensorImpl* impl) {
      return Tensor(IntrusivePtr<TensorImpl>::share(const_cast<TensorImpl*>(impl)));
    };
    switch (r.kind) {
      case TraceResult::Kind::undefined:
        results[i] = Tensor();
        continue;
      case TraceResult::Kind::argument:
        results[i] = share(arguments[r.index]);
        continue;
      case TraceResult::Kind::tensor:
        results[i] = Tensor(r.tensor);
        continue;
      case TraceResult::Kind::gradient:
        results[i] = leaf_of(*graph_.gradients[r.index].leaf).grad;
        continue;
      case TraceResult::Kind::buffer:
        break;
    }
    const PlanBuffer& buffer = graph_.buffers[r.value.buffer];
    IntrusivePtr<TensorImpl> impl = TensorImpl::create();
    impl->meta = r.value.meta;
    impl->value = kPlanResult;
    if (buffer.kind == PlanBuffer::Kind::argument) {
      impl->meta.offset += arguments[buffer.index]->meta.offset;
      impl->alias(arguments[buffer.index]->storage);
    } else if (buffer.kind == PlanBuffer::Kind::result) {
      impl->alias(result_slots_[slot_of_[r.value.buffer]].made);
    } else {
      impl->alias(buffer.storage);
    }
    results[i] = Tensor(std::move(impl));
  }
  for (Slot& slot : result_slots_) slot.made.reset();
}

void Program::replay(std::span<const TensorImpl* const> arguments, std::span<Tensor> results) {
  bind_arguments(arguments, true);
  for (Slot& slot : gradient_slots_) bind_gradient(slot);
  bind_results();
  if (Profiler* profiler = active_profiler()) [[unlikely]]
    run_steps_profiled(*profiler);
  else
    seconds_.empty() ? run_steps() : run_steps_measured();
  give_results(arguments, results);
}

// Runs it; the number of the next one.
size_t Program::run_step(size_t i) {
  const Step& step = steps_[i];
  if (!step.run) [[unlikely]]
    return run_other(i);
  step.run(step.context);
  for (uint32_t b = 0; b < step.bumps; ++b) bumps_[step.first_bump + b]->bump_version();
  return i + 1;
}

void Program::run_steps() {
  if (launch_graphs_ && launch_graphs_->any()) [[unlikely]]
    return run_launch_graphs();
  for (size_t i = 0; i < steps_.size();) i = run_step(i);
}

void Program::run_steps_measured() {
  const Stopwatch watch;
  double last = 0;
  for (size_t i = 0; i < steps_.size();) {
    const size_t next = run_step(i);
    const double now = watch.seconds();
    seconds_[i] += now - last;
    last = now;
    i = next;
  }
  ++measured_;
}

void Program::run_steps_profiled(Profiler& profiler) {
  for (size_t i = 0; i < steps_.size();) {
    const Step& step = steps_[i];
    if (!step.run) {
      i = run_other(i);
      continue;
    }
    const PlanRecord& record = graph_.records[step.record];
    profiler.run_planned(record.kernel, step.context, record.body.get());
    for (uint32_t b = 0; b < step.bumps; ++b) bumps_[step.first_bump + b]->bump_version();
    ++i;
  }
}

// A step without a kernel; the number of the next one.
size_t Program::run_other(size_t step) {
  const PlanRecord& r = graph_.records[steps_[step].record];
  switch (r.kind) {
    case TraceStep::Kind::draw:
      run_draw(r);
      break;
    case TraceStep::Kind::backward:
      run_backward(r);
      break;
    case TraceStep::Kind::host:
      if (r.host.run(r.host.object, r.host.argument)) break;
      while (graph_.records[steps_[step].record].kind != TraceStep::Kind::end_host) ++step;
      break;
    default:
      break;
  }
  return step + 1;
}

void Program::run_draw(const PlanRecord& record) {
  put_draw(record.draw, reserve_random(record.blocks));
}

void Program::put_draw(uint32_t draw, RandomState first) {
  for (std::byte* at : draw_seeds_[draw]) std::memcpy(at, &first.seed, sizeof first.seed);
  for (std::byte* at : draw_offsets_[draw]) std::memcpy(at, &first.offset, sizeof first.offset);
}

void Program::run_backward(const PlanRecord& record) const {
  const uint64_t pass = next_backward_pass();
  for (const uint32_t i : record.gradients) leaf_of(*graph_.gradients[i].leaf).last_backward = pass;
}

}  // namespace thalweg
