#pragma once

// How a plan asks an accelerator for one kernel that does what several point-wise records do. Plans
// know no kernels: the composition root brings the two together.

#include <memory>
#include <span>
#include <vector>

#include <thalweg/ops/op.h>

namespace thalweg {

/// Point-wise ops, one after the other, on operands that are numbered: first the inputs of the
/// whole, then its outputs, then what lives inside. All have one layout without gaps, or one
/// element. An output may be read before it is written, and after.
struct FusedRun {
  struct Part {
    const Op* op;
    const void* attrs;
    std::span<const uint32_t> inputs;
    uint32_t output;
  };
  struct Operand {
    DType dtype;
    bool repeats;  // one element, for all
  };
  std::vector<Part> parts;
  std::span<const Operand> operands;
  size_t inputs = 0, outputs = 0;
};

/// One kernel for a run. Takes the run's inputs and outputs; does not depend on how many elements
/// there are.
class FusedKernel {
 public:
  virtual ~FusedKernel() = default;
  virtual void run(const KernelContext& ctx) const = 0;
};

struct DeviceFusion {
  bool (*takes)(const Op& op) = nullptr;
  std::unique_ptr<FusedKernel> (*make)(const FusedRun& run) = nullptr;
};

/// What a kind of device has for it; null where there is nothing.
const DeviceFusion* device_fusion(DeviceKind kind);
/// Called by the composition root.
void set_device_fusion(DeviceKind kind, const DeviceFusion& fusion);

}  // namespace thalweg
