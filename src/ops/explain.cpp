#include "ops/explain.h"

#include <string_view>

#include "base/fail.h"
#include "base/log_format.h"

namespace thalweg {

bool is_optional_input(const Op& op, size_t i) {
  std::string_view rest = op.inputs;
  for (;; --i) {
    const size_t comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    if (entry.ends_with("...")) return false;
    if (i == 0) return entry.ends_with('?');
    if (comma == std::string_view::npos) return false;
    rest = rest.substr(comma + 2);
  }
}

std::string describe_inputs(const KernelContext& context) {
  std::string text;
  for (size_t i = 0; i < context.inputs(); ++i) {
    if (i) text += ", ";
    if (!context.has(i)) {
      text += "none";
      continue;
    }
    const TensorMeta& m = context.in(i).meta;
    text += fmt::format("{} {}", name(m.dtype), to_string(m.shape));
    if (!m.is_contiguous()) text += fmt::format(" strides {}", to_string(m.strides));
  }
  return text.empty() ? "no inputs" : text;
}

std::string explain_choice(const KernelContext& context, Device device) {
  std::string refused;
  for (const Kernel& kernel : context.op().kernels[static_cast<int>(device.kind)].all()) {
    const char* reason = kernel.refuse ? kernel.refuse(context) : nullptr;
    if (!reason)
      return fmt::format("{}{}", kernel.name, refused.empty() ? "" : "; passed over: " + refused);
    if (!refused.empty()) refused += ", ";
    refused += fmt::format("{} ({})", kernel.name, reason);
  }
  return refused.empty() ? "none is registered" : "tried " + refused;
}

void log_choice(const KernelContext& context, Device device) {
  const Op& op = context.op();
  log_info("{}({}) on {}: {}", op.name, describe_inputs(context), to_string(device),
           explain_choice(context, device));
}

}  // namespace thalweg
