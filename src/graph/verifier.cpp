#include "graph/verifier.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/fail.h"
#include "graph/leaf.h"
#include "graph/tape.h"
#include "tensor/same.h"

namespace thalweg {

void Verifier::begin(std::span<const TensorImpl* const> arguments) {
  mode_ = Mode::deferring;
  left_out_ = after_host_ = differs_by_host_ = false;
  next_ = fixed_ran_ = leaf_ = 0;
  next_host_ = records_ = 0;
  backward_ = kNoIndex;
  difference_.clear();
  plan_seconds_ = 0;
  seen_.clear();
  ids_.clear();
  draws_.clear();
  saved_.clear();
  argument_pointers_.assign(arguments.begin(), arguments.end());
  arguments_.clear();
  argument_metas_.clear();
  for (const TensorImpl* a : arguments) {
    arguments_.push_back(IntrusivePtr<TensorImpl>::share(const_cast<TensorImpl*>(a)));
    argument_metas_.push_back(a ? a->meta : TensorMeta());
    if (!a || ids_.find(a->storage->id()) != kNoIndex) continue;
    ids_.add(a->storage->id(), static_cast<uint32_t>(seen_.size()));
    seen_.push_back({a->storage.get(), a->storage->id()});
  }
  keep_gradients();
  program_.begin_beside(arguments);
  first_id_ = Storage::next_id();
  first_serial_ = Segment::next_serial();
  first_random_ = default_random_state();
  scope_.start(*this, *this, *this);
}

void Verifier::end() noexcept {
  scope_.stop();
  saved_.clear();
  old_gradients_.clear();
  arguments_.clear();
}

void Verifier::keep_gradients() {
  old_gradients_.clear();
  for (const TraceGradient& g : trace_.gradients()) {
    const Tensor& grad = leaf_of(*g.leaf).grad;
    OldGradient& old = old_gradients_.emplace_back();
    if (!grad.defined()) continue;
    old.defined = true;
    old.meta = grad.impl()->meta;
    old.storage = grad.impl()->storage;
  }
}

const TraceStep* Verifier::expect(TraceStep::Kind kind) const {
  if (next_ >= trace_.steps().size() || trace_.steps()[next_].kind != kind) return nullptr;
  return &trace_.steps()[next_];
}

void Verifier::run(const Kernel& kernel, const KernelContext& context) {
  after_host_ = false;
  if (mode_ != Mode::passing && !matches(kernel, context))
    differ(fmt::format("record {} ({}) {}", next_, context.op().name, why_));
  if (mode_ != Mode::passing) ++next_;
  if (mode_ != Mode::deferring) scope_.run(kernel, context);
}

bool Verifier::matches(const Kernel& kernel, const KernelContext& context) {
  const TraceStep* step = expect(TraceStep::Kind::kernel);
  why_ = "was not planned there";
  if (!step || step->op != &context.op() || step->inputs != context.inputs() ||
      step->outputs != context.outputs())
    return false;
  why_ = "has other tensors than planned";
  const std::span<const TraceOperand> inputs = trace_.inputs(*step),
                                      outputs = trace_.outputs(*step);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (context.has(i) != (inputs[i].buffer != kNoIndex)) return false;
    if (context.has(i) && !is_at(inputs[i], context.in(i))) return false;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_at(outputs[i], context.out(i))) return false;
  }
  why_ = "has another kernel than planned";
  if (step->kernel.run != kernel.run) return false;
  why_ = "has other attributes than planned";
  return same_attrs(*step, context.raw_attrs());
}

// The attributes that the step has in this call, if it is as planned.
const void* Verifier::with_draw(const TraceStep& step) {
  const void* planned = trace_.attrs(step);
  if (step.draw == kNoIndex) return planned;
  const size_t bytes = step.op->attrs().bytes;
  attrs_.resize((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  std::memcpy(attrs_.data(), planned, bytes);
  const RandomFields fields = random_fields(*step.op);
  const RandomState& drawn = draws_[step.draw];
  char* const at = reinterpret_cast<char*>(attrs_.data());
  std::memcpy(at + fields.seed->offset, &drawn.seed, sizeof drawn.seed);
  std::memcpy(at + fields.offset->offset, &drawn.offset, sizeof drawn.offset);
  return attrs_.data();
}

bool Verifier::same_attrs(const TraceStep& step, const void* attrs) {
  const AttrInfo& info = step.op->attrs();
  if (!info.bytes) return true;
  if (step.draw != kNoIndex && step.draw >= draws_.size()) return false;
  const void* planned = with_draw(step);
  return std::memcmp(planned, attrs, info.bytes) == 0 || equal(info, planned, attrs);
}

bool Verifier::is_at(const TraceOperand& expected, const TensorImpl& tensor) {
  const uint32_t b = expected.buffer;
  const bool known =
      b < seen_.size() ? seen_[b].id == tensor.storage->id() : add_buffer(b, *tensor.storage);
  if (!known) return false;
  const TensorMeta &want = expected.meta, &have = tensor.meta;
  const TraceBuffer& buffer = trace_.buffers()[b];
  const int64_t from =
      buffer.kind == TraceBuffer::Kind::argument ? argument_metas_[buffer.argument].offset : 0;
  return want.offset == have.offset - from && want.dtype == have.dtype &&
         want.device == have.device && same_layout(want, have);
}

// Buffers are numbered as they come.
bool Verifier::add_buffer(uint32_t buffer, Storage& storage) {
  if (buffer != seen_.size()) return false;
  const TraceBuffer& planned = trace_.buffers()[buffer];
  const uint32_t other = ids_.find(storage.id());
  if (planned.kind == TraceBuffer::Kind::external) {
    if (planned.storage.get() != &storage) return false;
    if (other != kNoIndex && (planned.written || trace_.buffers()[other].written)) return false;
  } else {
    if (planned.kind != TraceBuffer::Kind::born || other != kNoIndex) return false;
    if (!storage.made_since(first_id_) || storage.bytes() != planned.bytes ||
        storage.device() != planned.device)
      return false;
    if (planned.content && !same_bytes(*planned.content, storage)) {
      why_ = "has other numbers, which the host had put into a tensor, than planned";
      return false;
    }
    storage.watch();
  }
  if (other == kNoIndex) ids_.add(storage.id(), buffer);
  seen_.push_back({&storage, storage.id()});
  return true;
}

void Verifier::drew(RandomState first, uint64_t blocks) {
  after_host_ = false;
  if (mode_ == Mode::passing) return;
  const TraceStep* step = expect(TraceStep::Kind::draw);
  if (!step || step->blocks != blocks) return differ("it draws other random numbers than planned");
  program_.put_draw(static_cast<uint32_t>(draws_.size()), first);
  draws_.push_back(first);
  ++next_;
}

// The host's work may read what kernels gave, and change what they read.
void Verifier::host(const HostWork& work) {
  after_host_ = true;
  if (mode_ == Mode::passing) return;
  const TraceStep* step = expect(TraceStep::Kind::host);
  if (!step || !(step->host == work))
    return differ(fmt::format("{} was not planned there", work.name));
  const HostStep& at = host_steps_[next_host_++];
  if (mode_ == Mode::deferring) {
    if (at.repeats || !at.can_replay || !place_kept_buffers()) {
      release(Mode::following);
    } else {
      save(at.written);
      advance(at.records);
    }
  }
  ++next_;
}

void Verifier::end_host() {
  if (mode_ != Mode::passing) {
    if (expect(TraceStep::Kind::end_host))
      ++next_;
    else
      differ("the host's work ended otherwise than planned");
  }
  left_out_ = left_out_ || (after_host_ && differs_by_host_);
}

void Verifier::refuse(std::string reason) { differ(std::move(reason)); }

void Verifier::begin_backward() {
  if (mode_ == Mode::passing) return;
  if (!expect(TraceStep::Kind::backward) || !leaves_match())
    return differ("backward() was not planned there");
  backward_ = next_++;
  leaf_ = 0;
}

bool Verifier::leaves_match() const {
  return backward_ == kNoIndex || leaf_ == trace_.steps()[backward_].inputs;
}

void Verifier::wrote_gradient(TensorImpl& leaf) {
  if (mode_ == Mode::passing) return;
  const auto leaves = trace_.leaves(trace_.steps()[backward_]);
  const bool as_planned =
      leaf_ < leaves.size() &&
      (leaves[leaf_] ? leaves[leaf_].get() == &leaf : leaf.storage->made_since(first_id_));
  if (!as_planned) return differ("backward() reaches other leaves than planned");
  ++leaf_;
}

void Verifier::walks(uint64_t segment_serial) {
  if (segment_serial < first_serial_) differ("backward() of something that was recorded outside");
}

void Verifier::host_access(const TensorImpl& tensor, const char* operation) {
  if (mode_ == Mode::passing) return;
  const uint32_t b = ids_.find(tensor.storage->id());
  if (b == kNoIndex && tensor.storage->made_since(first_id_)) return;  // its own numbers
  if (b != kNoIndex && fixed_now(b) && operation != std::string_view("mutable_data")) {
    if (mode_ == Mode::deferring && fixed_ran_ < next_) run_late(true);
    fixed_ran_ = next_;
    return;
  }
  differ(fmt::format("the host looks at the elements of a tensor {} {} ({})",
                     name(tensor.meta.dtype), to_string(tensor.meta.shape), operation));
}

void Verifier::ended(const Storage& storage) noexcept {
  const uint32_t b = ids_.find(storage.id());
  if (b != kNoIndex && seen_[b].storage == &storage) seen_[b].storage = nullptr;
}

// --- as planned: the plan does the work ---

// The leaf's gradient goes back to where the last one was, if nobody else has that: what the code
// took for it is not touched, and a plan's gradients stay where they are.
void Verifier::keep_gradient_places() {
  for (size_t i = 0; i < old_gradients_.size(); ++i) {
    const TraceGradient& g = trace_.gradients()[i];
    OldGradient& old = old_gradients_[i];
    const uint32_t b = g.value.buffer;
    const Tensor& grad = leaf_of(*g.leaf).grad;
    if (b >= seen_.size() || !is_born(b) || !old.storage || !grad.defined()) continue;
    TensorImpl& impl = *grad.impl();
    if (impl.storage.get() != seen_[b].storage || impl.storage->use_count() > 1 ||
        old.storage->use_count() > 1 || old.storage->bytes() != impl.storage->bytes() ||
        !same_meta(old.meta, impl.meta))
      continue;
    Storage* const place = old.storage.get();
    impl.alias(std::move(old.storage));
    seen_[b] = {place, place->id()};
    if (ids_.find(place->id()) == kNoIndex) ids_.add(place->id(), b);
    place->watch();
  }
}

bool Verifier::place_kept_buffers() {
  keep_gradient_places();
  for (const uint32_t b : placed_) {
    if (b >= seen_.size()) break;
    if (!seen_[b].storage) return false;
    program_.place_beside(b, seen_[b].storage->data());
  }
  return true;
}

void Verifier::save(std::span<const uint32_t> buffers) {
  for (const uint32_t b : buffers) {
    const TraceBuffer& buffer = trace_.buffers()[b];
    Storage* const storage = buffer.storage ? buffer.storage.get() : seen_[b].storage;
    if (std::ranges::find(saved_, storage, &Saved::storage) == saved_.end())
      saved_.push_back({storage, bytes_of(*storage)});
  }
}

void Verifier::advance(size_t records) {
  const Stopwatch watch;
  const Unobserved inside(scope_.outer());
  program_.run_beside(records_, records);
  plan_seconds_ += watch.seconds();
}

}  // namespace thalweg
