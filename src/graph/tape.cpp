#include "graph/tape.h"

#include <atomic>
#include <cstring>

#include "base/fail.h"

namespace thalweg {
namespace {

std::atomic<uint64_t> g_next_serial{1};

constexpr size_t kPooledSegments = 4;

// Cleared segments, whose vectors keep their capacity: a training step allocates nothing. Tensors
// may outlive the thread's pool; `t_pool_gone` is readable even then.
constinit thread_local bool t_pool_gone = false;

struct SegmentPool {
  std::vector<Segment*> free;
  ~SegmentPool() {
    for (Segment* segment : free) delete segment;
    t_pool_gone = true;
  }
};

SegmentPool& segment_pool() {
  static thread_local SegmentPool pool;
  return pool;
}

bool wants_grad(const TensorImpl& tensor) {
  return is_floating(tensor.meta.dtype) && (tensor.is_recorded() || tensor.is_leaf());
}

}  // namespace

IntrusivePtr<Segment> Segment::create() {
  std::vector<Segment*>& free = segment_pool().free;
  Segment* segment;
  if (free.empty()) {
    segment = new Segment();
  } else {
    segment = free.back();
    free.pop_back();
    segment->revive();
  }
  segment->serial_ = g_next_serial.fetch_add(1, std::memory_order_relaxed);
  segment->cleared_ = false;
  return IntrusivePtr<Segment>::adopt(segment);
}

uint64_t Segment::next_serial() { return g_next_serial.load(std::memory_order_relaxed); }

void Segment::clear() {
  records_.clear();
  values_.clear();
  ids_.clear();
  attr_bytes_.clear();
  kept_.clear();
  cleared_ = true;
}

void Segment::dispose() {
  clear();
  if (!t_pool_gone && segment_pool().free.size() < kPooledSegments) {
    segment_pool().free.push_back(this);
  } else {
    delete this;
  }
}

uint32_t Segment::add_value(const TensorMeta& meta, ValueKind kind) {
  TapeValue& value = values_.emplace_back();
  value.meta = meta;
  value.kind = kind;
  return static_cast<uint32_t>(values_.size() - 1);
}

void Segment::save(uint32_t id, const TensorImpl& tensor) {
  TapeValue& value = values_[id];
  if (value.saved) return;
  value.saved = tensor.storage;
  value.version = tensor.storage->version();
}

uint32_t Segment::input_value(const TensorImpl& in, bool save_it) {
  uint32_t id;
  if (in.segment.get() == this) {
    id = in.value;
  } else if (!wants_grad(in)) {
    id = add_value(in.meta, ValueKind::constant);
  } else if (in.is_recorded()) {
    id = add_value(in.meta, ValueKind::foreign);
    values_[id].foreign = IntrusivePtr<Segment>::share(segment_of(in));
    values_[id].foreign_value = in.value;
  } else {
    id = add_value(in.meta, ValueKind::leaf);
    values_[id].leaf = IntrusivePtr<TensorImpl>::share(const_cast<TensorImpl*>(&in));
  }
  if (save_it) save(id, in);
  return id;
}

void Segment::record(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
                     std::span<TensorImpl* const> outputs) {
  Saves saves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !wants_grad(*inputs[i])) continue;
    const Saves& needed = op.saves[i < Op::kMaxSaves ? i : 0];
    saves.inputs |= needed.inputs;
    saves.outputs |= needed.outputs;
  }
  TapeRecord r;
  r.op = &op;
  r.inputs = static_cast<uint16_t>(inputs.size());
  r.outputs = static_cast<uint16_t>(outputs.size());
  r.first_input = static_cast<uint32_t>(ids_.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool save_it = i < 16 && (saves.inputs >> i & 1);
    ids_.push_back(inputs[i] ? input_value(*inputs[i], save_it) : kNoValue);
  }
  if (const size_t bytes = op.attrs().bytes) {
    constexpr size_t kUnit = sizeof(std::max_align_t);
    r.attrs = static_cast<uint32_t>(attr_bytes_.size());
    attr_bytes_.resize(attr_bytes_.size() + (bytes + kUnit - 1) / kUnit);
    std::memcpy(&attr_bytes_[r.attrs], attrs, bytes);
  }
  r.first_output = static_cast<uint32_t>(values_.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorImpl& out = *outputs[i];
    const uint32_t id = add_value(out.meta, ValueKind::computed);
    if (saves.outputs >> i & 1) save(id, out);
    if (!is_floating(out.meta.dtype)) continue;
    out.segment = IntrusivePtr<TapeSegment>::share(this);
    out.value = id;
  }
  records_.push_back(r);
}

void Tape::record(const Op& op, const void* attrs, std::span<const TensorImpl* const> inputs,
                  std::span<TensorImpl* const> outputs) {
  bool wanted = false;
  uint64_t newest = 0;
  for (const TensorImpl* in : inputs) {
    if (!in || !wants_grad(*in)) continue;
    wanted = true;
    if (in->is_recorded()) newest = std::max(newest, segment_of(*in)->serial());
  }
  if (!wanted) return;
  // Backward walks segments from the newest to the oldest, so a record never leads to a newer one.
  if (newest > current_->serial() || current_->cleared()) current_ = Segment::create();
  current_->record(op, attrs, inputs, outputs);
}

Tape& thread_tape() {
  static thread_local Tape tape;
  return tape;
}

}  // namespace thalweg
