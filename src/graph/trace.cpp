#include "graph/trace.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <thalweg/graph/autograd.h>

#include "base/fail.h"
#include "graph/leaf.h"
#include "graph/tape.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

bool covers_storage(const TensorImpl& tensor) {
  return static_cast<size_t>(tensor.count) * item_size(tensor.meta.dtype) ==
             tensor.storage->bytes() &&
         tensor.meta.is_dense();
}

IntrusivePtr<Storage> copy_of(const Storage& storage) {
  IntrusivePtr<Storage> copy = Storage::allocate(storage.device(), storage.bytes());
  if (storage.bytes()) {
    copy_bytes(storage.device(), copy->data(), storage.device(), storage.data(), storage.bytes());
  }
  return copy;
}

}  // namespace

Tensor row_major_copy(const TensorImpl& tensor) {
  const TensorMeta& m = tensor.meta;
  const Tensor copy = Tensor::empty(m.shape, {m.dtype, m.device});
  if (m.device.kind == DeviceKind::cpu) {
    copy_strided(*copy.impl(), tensor);
  } else {
    const Pause pause;
    copy.assign(
        make_view(Tensor(IntrusivePtr<TensorImpl>::share(const_cast<TensorImpl*>(&tensor))), m));
  }
  return copy;
}

RandomFields random_fields(const Op& op) {
  RandomFields found;
  if (!op.flags.random) return found;
  for (const AttrField& field : op.attrs().fields) {
    if (field.name == std::string_view("seed")) found.seed = &field;
    if (field.name == std::string_view("offset")) found.offset = &field;
  }
  THALWEG_ASSERT(found.seed && found.offset);
  return found;
}

Trace::Trace(std::span<const TensorImpl* const> arguments)
    : first_id_(Storage::next_id()),
      first_serial_(Segment::next_serial()),
      first_random_(default_random_state()),
      arguments_(arguments.begin(), arguments.end()) {
  scope_.start(*this, *this, *this);
  for (uint32_t i = 0; i < arguments_.size(); ++i) {
    argument_metas_.push_back(arguments_[i] ? arguments_[i]->meta : TensorMeta());
    if (!arguments_[i]) continue;
    const Storage& storage = *arguments_[i]->storage;
    if (!by_id_.emplace(storage.id(), buffers_.size()).second) continue;
    TraceBuffer& buffer = buffers_.emplace_back();
    buffer.kind = TraceBuffer::Kind::argument;
    buffer.argument = i;
    buffer.id = storage.id();
    buffer.bytes = storage.bytes();
    buffer.device = storage.device();
  }
}

void Trace::refuse(std::string reason) {
  if (refusal_.empty()) refusal_ = std::move(reason);
}

uint32_t Trace::buffer_of(const TensorImpl& tensor, bool needs_content) {
  Storage& storage = *tensor.storage;
  const auto [found, is_new] = by_id_.emplace(storage.id(), static_cast<uint32_t>(buffers_.size()));
  if (!is_new) return found->second;
  TraceBuffer& buffer = buffers_.emplace_back();
  buffer.id = storage.id();
  buffer.bytes = storage.bytes();
  buffer.device = storage.device();
  if (storage.made_since(first_id_)) {
    storage.watch();
    if (needs_content) buffer.content = copy_of(storage);
    buffer.fixed = true;
  } else {
    buffer.kind = TraceBuffer::Kind::external;
    buffer.storage = IntrusivePtr<Storage>::share(&storage);
  }
  return found->second;
}

void Trace::note_external(const TensorImpl& tensor) {
  if (!seen_externals_.insert(&tensor).second) return;
  externals_.push_back(IntrusivePtr<TensorImpl>::share(const_cast<TensorImpl*>(&tensor)));
}

TraceOperand Trace::place(const TensorImpl& tensor, bool needs_content) {
  TraceOperand operand{buffer_of(tensor, needs_content), tensor.meta};
  const TraceBuffer& buffer = buffers_[operand.buffer];
  if (buffer.kind == TraceBuffer::Kind::argument)
    operand.meta.offset -= argument_metas_[buffer.argument].offset;
  return operand;
}

TraceOperand Trace::operand(const TensorImpl& tensor, bool needs_content) {
  TraceOperand operand = place(tensor, needs_content);
  if (buffers_[operand.buffer].kind != TraceBuffer::Kind::born) note_external(tensor);
  return operand;
}

void Trace::match_draw(TraceStep& step, const void* attrs) const {
  const RandomFields fields = random_fields(*step.op);
  if (!fields.seed) return;
  RandomState named;
  const char* bytes = static_cast<const char*>(attrs);
  std::memcpy(&named.seed, bytes + fields.seed->offset, sizeof named.seed);
  std::memcpy(&named.offset, bytes + fields.offset->offset, sizeof named.offset);
  for (size_t i = draws_.size(); i-- > 0;) {
    if (draws_[i].first == named && draws_[i].blocks > 0) {
      step.draw = static_cast<uint32_t>(i);
      return;
    }
  }
}

void Trace::run(const Kernel& kernel, const KernelContext& context) {
  TraceStep step;
  step.op = &context.op();
  step.kernel = kernel;
  step.inputs = static_cast<uint16_t>(context.inputs());
  step.outputs = static_cast<uint16_t>(context.outputs());
  step.first_operand = static_cast<uint32_t>(operands_.size());
  bool fixed = !step.op->flags.random;
  for (size_t i = 0; i < context.inputs(); ++i) {
    operands_.push_back(context.has(i) ? operand(context.in(i), true) : TraceOperand());
    fixed = fixed && (!context.has(i) || buffers_[operands_.back().buffer].fixed);
  }
  for (size_t i = 0; i < context.outputs(); ++i) {
    operands_.push_back(operand(context.out(i), !covers_storage(context.out(i))));
    TraceBuffer& buffer = buffers_[operands_.back().buffer];
    buffer.written = true;
    buffer.fixed = buffer.fixed && fixed;
  }
  if (const size_t bytes = step.op->attrs().bytes) {
    constexpr size_t kUnit = sizeof(std::max_align_t);
    step.attrs = static_cast<uint32_t>(attr_bytes_.size());
    attr_bytes_.resize(attr_bytes_.size() + (bytes + kUnit - 1) / kUnit);
    std::memcpy(&attr_bytes_[step.attrs], context.raw_attrs(), bytes);
    match_draw(step, context.raw_attrs());
  }
  steps_.push_back(step);
  scope_.run(kernel, context);
  if (!captures_) return;
  const Unobserved inside(nullptr);
  captured_.resize(steps_.size());
  for (size_t i = 0; i < context.outputs(); ++i)
    captured_.back().push_back(row_major_copy(context.out(i)));
}

void Trace::drew(RandomState first, uint64_t blocks) {
  TraceStep step;
  step.kind = TraceStep::Kind::draw;
  step.draw = static_cast<uint32_t>(draws_.size());
  step.blocks = blocks;
  steps_.push_back(step);
  draws_.push_back({first, blocks});
}

void Trace::host(const HostWork& work) {
  TraceStep step;
  step.kind = TraceStep::Kind::host;
  step.host = work;
  steps_.push_back(step);
}

void Trace::end_host() {
  TraceStep step;
  step.kind = TraceStep::Kind::end_host;
  steps_.push_back(step);
}

void Trace::begin_backward() {
  TraceStep step;
  step.kind = TraceStep::Kind::backward;
  step.first_operand = static_cast<uint32_t>(leaves_.size());
  steps_.push_back(step);
}

void Trace::wrote_gradient(TensorImpl& leaf) {
  leaves_.push_back(IntrusivePtr<TensorImpl>::share(&leaf));
  for (size_t i = steps_.size(); i-- > 0;) {
    if (steps_[i].kind != TraceStep::Kind::backward) continue;
    ++steps_[i].inputs;
    return;
  }
}

void Trace::walks(uint64_t segment_serial) {
  if (segment_serial < first_serial_) refuse("backward() of something that was recorded outside");
}

void Trace::host_access(const TensorImpl& tensor, const char* operation) {
  const auto found = by_id_.find(tensor.storage->id());
  const bool fresh = found == by_id_.end() && tensor.storage->made_since(first_id_);
  if (fresh) return;  // the host puts numbers into a tensor of its own
  if (found != by_id_.end()) {
    const bool writes = std::string_view(operation) == "mutable_data";
    if (buffers_[found->second].fixed && !writes) return;
  }
  refuse(fmt::format("the host looks at the elements of a tensor {} {} in the middle ({})",
                     name(tensor.meta.dtype), to_string(tensor.meta.shape), operation));
}

void Trace::ended(const Storage& storage) noexcept {
  const auto found = by_id_.find(storage.id());
  if (found != by_id_.end()) buffers_[found->second].alive = false;
}

bool Trace::leaves_work_out() const {
  for (size_t i = 1; i < steps_.size(); ++i) {
    if (steps_[i].kind == TraceStep::Kind::end_host && steps_[i - 1].kind == TraceStep::Kind::host)
      return true;
  }
  return false;
}

// --- the end ---

void Trace::finish(std::span<const Tensor> results) {
  scope_.pause();
  drop_unshared(results);
  collect_gradients();
  for (const Tensor& result : results) collect_result(result);
  check_result_owners(results);
  check_escapes();
  check_histories();
  RandomState expected = first_random_;
  for (const Draw& draw : draws_) expected.offset += draw.blocks;
  if (!(default_random_state() == expected))
    refuse("random numbers were drawn, or the seed was set, by something that is no op");
  scope_.stop();
}

// Tensors that only the trace and the results hold are no one's parameters.
void Trace::drop_unshared(std::span<const Tensor> results) {
  for (const auto& p : leaves_) ++own_[p.get()];
  for (const auto& p : externals_) ++own_[p.get()];
  for (const Tensor& r : results) {
    if (r.defined()) ++own_[r.impl()];
  }
  const auto drop = [&](IntrusivePtr<TensorImpl>& p) {
    if (p && p->use_count() == own_.at(p.get())) p.reset();
  };
  for (auto& p : externals_) drop(p);
  for (auto& p : leaves_) drop(p);
  std::erase_if(externals_, [&](const IntrusivePtr<TensorImpl>& p) {
    if (!p) return true;
    const auto found = by_id_.find(p->storage->id());
    if (found == by_id_.end() || buffers_[found->second].kind == TraceBuffer::Kind::born) {
      refuse("it uses a gradient before it writes it");
      return true;
    }
    if (buffers_[found->second].kind == TraceBuffer::Kind::external) return false;
    if (std::ranges::find(arguments_, p.get()) == arguments_.end())
      refuse("an argument shares memory with another tensor that the function uses");
    return true;
  });
  seen_externals_.clear();
}

void Trace::collect_gradients() {
  std::unordered_set<const TensorImpl*> seen;
  for (const IntrusivePtr<TensorImpl>& leaf : leaves_) {
    if (!leaf || !seen.insert(leaf.get()).second) continue;
    const Tensor& grad = leaf_of(*leaf).grad;
    if (!grad.defined()) continue;
    if (std::ranges::find(arguments_, grad.impl()) != arguments_.end())
      refuse("an argument is a gradient that it writes; give in a clone()");
    TraceGradient& gradient = gradients_.emplace_back();
    gradient.leaf = leaf;
    gradient.value = place(*grad.impl(), true);
  }
}

void Trace::collect_result(const Tensor& result) {
  TraceResult& r = results_.emplace_back();
  if (!result.defined()) return;
  for (uint32_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i] != result.impl()) continue;
    r.kind = TraceResult::Kind::argument;
    r.index = i;
    return;
  }
  for (uint32_t i = 0; i < gradients_.size(); ++i) {
    if (leaf_of(*gradients_[i].leaf).grad.impl() != result.impl()) continue;
    r.kind = TraceResult::Kind::gradient;
    r.index = i;
    return;
  }
  const bool others_hold_it = result.impl()->use_count() > own_.at(result.impl());
  if (others_hold_it && !result.impl()->storage->made_since(first_id_)) {
    r.kind = TraceResult::Kind::tensor;
    r.tensor = IntrusivePtr<TensorImpl>::share(result.impl());
  } else {
    r.kind = TraceResult::Kind::buffer;
    r.value = place(*result.impl(), true);
  }
}

void Trace::check_result_owners(std::span<const Tensor> results) {
  std::unordered_map<const Storage*, std::unordered_set<const TensorImpl*>> owners;
  for (const Tensor& r : results) {
    if (r.defined()) owners[r.impl()->storage.get()].insert(r.impl());
  }
  for (const auto& [storage, impls] : owners) {
    if (!storage->made_since(first_id_)) continue;
    bool elsewhere = storage->use_count() > impls.size();
    for (const TensorImpl* impl : impls) elsewhere = elsewhere || impl->use_count() > own_.at(impl);
    if (elsewhere && !is_gradient(*storage)) refuse("a result is also kept by something else");
  }
}

bool Trace::is_gradient(const Storage& storage) const {
  const auto found = by_id_.find(storage.id());
  return found != by_id_.end() && std::ranges::any_of(gradients_, [&](const TraceGradient& g) {
           return g.value.buffer == found->second;
         });
}

// What was made inside may live on as a result or as a gradient, and nowhere else: a replay would
// not reach those who keep it.
void Trace::check_escapes() {
  std::unordered_set<uint32_t> known, gradients;
  for (const TraceGradient& g : gradients_) gradients.insert(g.value.buffer);
  for (const TraceResult& r : results_) {
    if (r.kind != TraceResult::Kind::buffer) continue;
    known.insert(r.value.buffer);
    if (gradients.count(r.value.buffer))
      refuse("a result shares the memory of a gradient; give back a clone()");
  }
  const auto first = std::ranges::find(buffers_, TraceBuffer::Kind::born, &TraceBuffer::kind);
  const auto first_born = static_cast<size_t>(first - buffers_.begin());
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    const TraceBuffer& b = buffers_[i];
    if (b.kind != TraceBuffer::Kind::born) continue;
    if (b.device != buffers_[first_born].device) refuse("it makes tensors on more than one device");
    if (!b.alive) continue;
    if (known.count(i) || gradients.count(i)) continue;
    refuse(fmt::format("a tensor of {} bytes that is made inside is kept by something outside",
                       b.bytes));
  }
}

void Trace::check_histories() {
  for (const TraceGradient& g : gradients_) {
    const TensorImpl& grad = *leaf_of(*g.leaf).grad.impl();
    if (grad.is_recorded()) refuse("gradients keep their history (create_graph)");
    if (grad.storage->made_since(first_id_) && grad.storage->use_count() > 1)
      refuse("the memory of a gradient is also kept by something else");
  }
  for (const auto& e : externals_) {
    if (e->is_recorded()) refuse("it uses a tensor with a history that was recorded outside");
  }
}

}  // namespace thalweg
