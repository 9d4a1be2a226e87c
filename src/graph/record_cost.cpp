#include "graph/record_cost.h"

#include <algorithm>

#include "graph/machine_rates.h"
#include "graph/product_tail.h"
#include "ops/op_cost.h"

namespace thalweg {

RecordCost cost_of(const KernelContext& context, const FusedBody* body) {
  std::vector<const TensorImpl*> inputs;
  std::vector<TensorImpl*> outputs;
  for (size_t i = 0; i < context.inputs(); ++i)
    inputs.push_back(context.has(i) ? &context.in(i) : nullptr);
  for (size_t i = 0; i < context.outputs(); ++i) outputs.push_back(&context.out(i));
  RecordCost cost;
  const ProductTail* const joined = tail_of(context);
  if (joined) body = joined->tail.get();
  cost.operations = body ? context.out().count * static_cast<int64_t>(body->parts.size())
                         : op_cost(context.op(), inputs, outputs);
  if (joined) {
    cost.operations +=
        op_cost(*joined->product.op, std::span(inputs).first(joined->product.inputs.size()),
                std::span(outputs).first(1));
  }
  cost.bytes = op_bytes(context.op(), inputs, outputs);
  return cost;
}

RecordOperands::RecordOperands(const PlanRecord& record) : record_(record) {
  for (const TraceOperand& operand : record.inputs) add(operand);
  for (const TraceOperand& operand : record.outputs) add(operand);
  const size_t inputs = record.inputs.size();
  for (size_t i = 0; i < inputs; ++i) in_.push_back(impls_[i].get());
  for (size_t i = inputs; i < impls_.size(); ++i) out_.push_back(impls_[i].get());
}

KernelContext RecordOperands::context() const {
  return {*record_.op, record_.attrs.data(), in_, out_};
}

void RecordOperands::add(const TraceOperand& operand) {
  impls_.emplace_back();
  if (operand.buffer == kNoIndex) return;
  impls_.back() = TensorImpl::create();
  TensorImpl& impl = *impls_.back();
  impl.meta = operand.meta;
  impl.count = operand.meta.size();
  impl.row_major = operand.meta.is_contiguous();
}

RecordCost cost_of(const PlanRecord& record) {
  if (record.kind != TraceStep::Kind::kernel) return {};
  const RecordOperands operands(record);
  return cost_of(operands.context(), record.body.get());
}

double expected_seconds(const PlanRecord& record, const RecordCost& cost) {
  if (record.kind != TraceStep::Kind::kernel || cost.bytes == 0) return 0;
  const TensorMeta& out = record.outputs[0].meta;
  if (out.device.kind != DeviceKind::cpu) return 0;
  const double operations = static_cast<double>(cost.operations) / product_rate(out.dtype);
  return std::max(operations, static_cast<double>(cost.bytes) / copy_rate(cost.bytes));
}

}  // namespace thalweg
