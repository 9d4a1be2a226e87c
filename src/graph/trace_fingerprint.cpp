#include <algorithm>
#include <string_view>

#include "graph/trace.h"

namespace thalweg {
namespace {

/// FNV-1a over words.
class Hash {
 public:
  Hash& operator()(uint64_t word) {
    value_ = (value_ ^ word) * 0x100000001b3u;
    value_ ^= value_ >> 29;
    return *this;
  }
  Hash& operator()(const void* pointer) { return (*this)(reinterpret_cast<uintptr_t>(pointer)); }
  Hash& operator()(const Dims& dims) {
    (*this)(dims.size());
    for (const int64_t d : dims) (*this)(static_cast<uint64_t>(d));
    return *this;
  }
  Hash& operator()(const TraceOperand& operand) {
    (*this)(operand.buffer);
    if (operand.buffer == kNoIndex) return *this;
    const TensorMeta& m = operand.meta;
    return (*this)(static_cast<uint64_t>(m.dtype))(static_cast<uint64_t>(m.offset))(m.shape)(
        m.strides);
  }
  Hash& bytes(const void* data, size_t count) {
    return (*this)(std::hash<std::string_view>()({static_cast<const char*>(data), count}));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

// Attributes without the numbers that a draw gave.
uint64_t attrs_hash(const Trace& trace, const TraceStep& step) {
  const AttrInfo& info = step.op->attrs();
  if (!info.bytes) return 0;
  if (step.draw == kNoIndex) return hash(info, trace.attrs(step));
  std::vector<std::byte> attrs(trace.attrs(step), trace.attrs(step) + info.bytes);
  const RandomFields fields = random_fields(*step.op);
  std::fill_n(attrs.begin() + static_cast<ptrdiff_t>(fields.seed->offset), 8, std::byte{});
  std::fill_n(attrs.begin() + static_cast<ptrdiff_t>(fields.offset->offset), 8, std::byte{});
  return hash(info, attrs.data());
}

void add_step(Hash& h, const Trace& trace, const TraceStep& step) {
  h(static_cast<uint64_t>(step.kind))(step.inputs)(step.outputs)(step.draw)(step.blocks);
  switch (step.kind) {
    case TraceStep::Kind::kernel:
      h(step.op)(reinterpret_cast<const void*>(step.kernel.run))(attrs_hash(trace, step));
      for (const TraceOperand& in : trace.inputs(step)) h(in);
      for (const TraceOperand& out : trace.outputs(step)) h(out);
      break;
    case TraceStep::Kind::host:
      h(step.host.object)(static_cast<uint64_t>(step.host.argument));
      break;
    case TraceStep::Kind::backward:
      for (const auto& leaf : trace.leaves(step)) h(leaf.get());
      break;
    default:
      break;
  }
}

}  // namespace

uint64_t fingerprint(const Trace& trace) {
  Hash h;
  for (const TraceStep& step : trace.steps()) add_step(h, trace, step);
  for (const TraceBuffer& b : trace.buffers()) {
    h(static_cast<uint64_t>(b.kind))(b.bytes)(b.argument);
    if (b.storage) h(b.id);
    if (b.content && b.device.kind == DeviceKind::cpu) h.bytes(b.content->data(), b.bytes);
  }
  for (const TraceGradient& g : trace.gradients()) h(g.leaf.get())(g.value);
  for (const TraceResult& r : trace.results())
    h(static_cast<uint64_t>(r.kind))(r.index)(r.tensor.get())(r.value);
  return h.value();
}

}  // namespace thalweg
