#pragma once

// Point-wise records that run together. On the cpu: tile by tile, all of them on one tile while it
// is in the first-level cache; elsewhere as one kernel. What only they read is never anywhere else.

#include <memory>
#include <string>

#include "graph/plan_graph.h"
#include "ops/device_fusion.h"

namespace thalweg {

/// The records of a fused one, over operands that are numbered: first the fused record's inputs,
/// then its outputs, then what lives inside.
struct FusedBody {
  static constexpr size_t kMostParts = 12;
  static constexpr size_t kMostInputs = 4;  // of a part
  static constexpr size_t kMostOperands = kMostParts * (kMostInputs + 1);

  struct Part {
    const Op* op;
    Kernel kernel;
    AttrBytes attrs;
    std::vector<uint32_t> inputs;
    uint32_t output;
  };
  std::vector<Part> parts;
  std::vector<FusedRun::Operand> operands;
  size_t inputs = 0, outputs = 0;
  std::string description;
  std::shared_ptr<const FusedKernel> device_kernel;  // in place of tiles; null on the cpu

  FusedRun as_run() const;
};

/// Runs the body on elements [first, last) of the operands of a fused record.
void run_tiles(const KernelContext& ctx, const FusedBody& body, int64_t first, int64_t last);

/// One record that does what the body's do, in order.
PlanRecord fused_record(std::shared_ptr<FusedBody> body, std::vector<TraceOperand> inputs,
                        std::vector<TraceOperand> outputs);

}  // namespace thalweg
