#include <cstring>

#include "base/fail.h"
#include "graph/trace.h"
#include "tensor/same.h"

namespace thalweg {
namespace {

bool same_operand(const TraceOperand& a, const TraceOperand& b) {
  return a.buffer == b.buffer && (a.buffer == kNoIndex || same_meta(a.meta, b.meta));
}

bool same_operands(std::span<const TraceOperand> a, std::span<const TraceOperand> b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_operand(a[i], b[i])) return false;
  }
  return true;
}

// Attributes without the numbers that a draw gave.
bool same_attrs(const Trace& a, const TraceStep& sa, const Trace& b, const TraceStep& sb) {
  const AttrInfo& info = sa.op->attrs();
  if (!info.bytes) return true;
  if (sa.draw == kNoIndex) return equal(info, a.attrs(sa), b.attrs(sb));
  std::vector<std::byte> left(a.attrs(sa), a.attrs(sa) + info.bytes);
  const RandomFields fields = random_fields(*sa.op);
  std::memcpy(left.data() + fields.seed->offset, b.attrs(sb) + fields.seed->offset, 8);
  std::memcpy(left.data() + fields.offset->offset, b.attrs(sb) + fields.offset->offset, 8);
  return equal(info, left.data(), b.attrs(sb));
}

std::string kernel_difference(const Trace& a, const TraceStep& sa, const Trace& b,
                              const TraceStep& sb, size_t i) {
  const auto differs = [&](const char* what) {
    return fmt::format("record {} ({}) {} from call to call", i, sa.op->name, what);
  };
  if (sa.op != sb.op) return fmt::format("record {} is {}, then {}", i, sa.op->name, sb.op->name);
  if (sa.inputs != sb.inputs || sa.outputs != sb.outputs || sa.draw != sb.draw)
    return differs("has other arguments");
  if (!same_attrs(a, sa, b, sb)) return differs("has other attributes");
  if (!same_operands(a.inputs(sa), b.inputs(sb)) || !same_operands(a.outputs(sa), b.outputs(sb)))
    return differs("has other tensors");
  if (sa.kernel.run != sb.kernel.run) return differs("has another kernel");
  return {};
}

std::string step_difference(const Trace& a, const Trace& b, size_t i) {
  const TraceStep &sa = a.steps()[i], &sb = b.steps()[i];
  if (sa.kind != sb.kind) return fmt::format("step {} is of another kind from call to call", i);
  switch (sa.kind) {
    case TraceStep::Kind::kernel:
      return kernel_difference(a, sa, b, sb, i);
    case TraceStep::Kind::draw:
      if (sa.blocks == sb.blocks) return {};
      return "it draws more random numbers from call to call";
    case TraceStep::Kind::host:
      if (sa.host == sb.host) return {};
      return fmt::format("{} has other arguments from call to call", sa.host.name);
    case TraceStep::Kind::end_host:
      return {};
    case TraceStep::Kind::backward:
      break;
  }
  bool same = sa.inputs == sb.inputs;
  for (size_t k = 0; same && k < sa.inputs; ++k) same = a.leaves(sa)[k] == b.leaves(sb)[k];
  return same ? "" : "backward() reaches other leaves from call to call";
}

std::string buffer_difference(const TraceBuffer& a, const TraceBuffer& b) {
  if (a.kind != b.kind || a.bytes != b.bytes || a.argument != b.argument)
    return "its tensors differ from call to call";
  if (a.storage != b.storage)
    return "a tensor that it uses is replaced by another from call to call";
  if (static_cast<bool>(a.content) != static_cast<bool>(b.content))
    return "its constants differ from call to call";
  if (a.content && !same_bytes(*a.content, *b.content))
    return "the host puts other numbers into a tensor from call to call; make it an argument";
  return {};
}

bool same_gradient(const TraceGradient& a, const TraceGradient& b) {
  return a.leaf == b.leaf && same_operand(a.value, b.value);
}

bool same_result(const TraceResult& a, const TraceResult& b) {
  return a.kind == b.kind && a.index == b.index && a.tensor == b.tensor &&
         same_operand(a.value, b.value);
}

}  // namespace

bool same_bytes(const Storage& a, const Storage& b) {
  if (a.bytes() == 0) return true;
  if (a.device().kind == DeviceKind::cpu) return std::memcmp(a.data(), b.data(), a.bytes()) == 0;
  const auto on_host = [](const Storage& storage) {
    std::vector<std::byte> bytes(storage.bytes());
    copy_bytes(Device::cpu(), bytes.data(), storage.device(), storage.data(), bytes.size());
    return bytes;
  };
  return on_host(a) == on_host(b);
}

std::string difference(const Trace& a, const Trace& b) {
  const size_t steps = std::min(a.steps().size(), b.steps().size());
  for (size_t i = 0; i < steps; ++i) {
    std::string found = step_difference(a, b, i);
    if (!found.empty()) return found;
  }
  if (a.steps().size() != b.steps().size())
    return fmt::format("it has {} steps, then {}", a.steps().size(), b.steps().size());
  if (a.buffers().size() != b.buffers().size()) return "its tensors differ from call to call";
  for (size_t i = 0; i < a.buffers().size(); ++i) {
    std::string found = buffer_difference(a.buffers()[i], b.buffers()[i]);
    if (!found.empty()) return found;
  }
  if (!std::ranges::equal(a.gradients(), b.gradients(), same_gradient))
    return "its gradients differ from call to call";
  if (!std::ranges::equal(a.results(), b.results(), same_result))
    return "its results differ from call to call";
  return {};
}

}  // namespace thalweg
