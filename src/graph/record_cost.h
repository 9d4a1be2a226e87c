#pragma once

// What records do: operations, bytes, and the least time that these can take here.

#include <vector>

#include <thalweg/ops/op.h>

#include "graph/fusion.h"
#include "graph/plan_graph.h"

namespace thalweg {

struct RecordCost {
  int64_t operations = 0;  // as NetSummary counts them; of a fused record: of its parts
  int64_t bytes = 0;       // read and written
};

/// `body` is that of a fused record, or null.
RecordCost cost_of(const KernelContext& context, const FusedBody* body);

/// Operands as a record has them, without elements: what costs and kernels' choices look at.
class RecordOperands {
 public:
  explicit RecordOperands(const PlanRecord& record);
  /// For as long as both live.
  KernelContext context() const;

 private:
  void add(const TraceOperand& operand);

  const PlanRecord& record_;
  std::vector<IntrusivePtr<TensorImpl>> impls_;
  std::vector<const TensorImpl*> in_;
  std::vector<TensorImpl*> out_;
};

/// Of a kernel record; nothing for others.
RecordCost cost_of(const PlanRecord& record);

/// On the cpu, the longer of two times: of the operations at product_rate(), of the bytes at
/// copy_rate(). Ops that are cleverer than their count, such as Winograd's convolutions, take less.
double expected_seconds(const PlanRecord& record, const RecordCost& cost);

}  // namespace thalweg
