#include "graph/product_tail.h"

#include <array>

#include "base/fail.h"

namespace thalweg {
namespace {

struct TailAttrs {
  const ProductTail* joined = nullptr;  // the plan keeps it alive
  static auto fields() { return std::tuple{}; }
};

constexpr size_t kMost = FusedBody::kMostOperands;

void run_with_tail(const KernelContext& ctx) {
  const ProductTail& joined = *ctx.attrs<TailAttrs>().joined;
  const size_t own = joined.product.inputs.size();
  std::array<const TensorImpl*, kMost> product_inputs{}, tail_inputs{};
  std::array<TensorImpl*, kMost> outputs{};
  for (size_t i = 0; i < own; ++i) product_inputs[i] = ctx.has(i) ? &ctx.in(i) : nullptr;
  for (size_t i = 0; i < joined.inputs.size(); ++i)
    tail_inputs[i] = joined.inputs[i] == kNoIndex ? &ctx.out(0) : &ctx.in(joined.inputs[i]);
  for (size_t i = 0; i < ctx.outputs(); ++i) outputs[i] = &ctx.out(i);
  const KernelContext product(*joined.product.op, joined.product.attrs.data(),
                              std::span(product_inputs).first(own), std::span(outputs).first(1));
  const KernelContext tail(ctx.op(), ctx.raw_attrs(),
                           std::span(tail_inputs).first(joined.inputs.size()),
                           std::span(outputs).subspan(1, ctx.outputs() - 1));
  joined.run(product,
             [&](int64_t begin, int64_t end) { run_tiles(tail, *joined.tail, begin, end); });
}

std::string names_of(const FusedBody& body) {
  std::string names;
  for (const FusedBody::Part& part : body.parts) names += ", " + std::string(part.op->name);
  return names;
}

bool same(const TraceOperand& a, const TraceOperand& b) { return a.buffer == b.buffer; }

}  // namespace

const ProductTail* tail_of(const KernelContext& ctx) {
  return ctx.op().reference == run_with_tail ? ctx.attrs<TailAttrs>().joined : nullptr;
}

PlanRecord with_tail(PlanRecord product, const PlanRecord& tail) {
  auto joined = std::make_shared<ProductTail>();
  PlanRecord record;
  record.inputs = product.inputs;
  record.outputs = product.outputs;
  for (const TraceOperand& in : tail.inputs) {
    const bool is_product = same(in, product.outputs[0]);
    joined->inputs.push_back(is_product ? kNoIndex : static_cast<uint32_t>(record.inputs.size()));
    if (!is_product) record.inputs.push_back(in);
  }
  record.outputs.insert(record.outputs.end(), tail.outputs.begin(), tail.outputs.end());
  joined->run = by_parts(product.kernel.run);
  joined->tail = tail.body;
  joined->name = product.op->name + names_of(*tail.body);
  joined->description =
      fmt::format("{}, rows go on while they are in the cache", product.kernel.name);
  joined->op = {.name = joined->name.c_str(),
                .doc = "A product, and point-wise ops on it.",
                .inputs = "tensors...",
                .attrs = attr_info<TailAttrs>,
                .flags = {.internal = true},
                .outputs = Op::kVariableOutputs,
                .infer = nullptr,
                .no_gradient = "it is part of a plan",
                .reference = run_with_tail};
  joined->product = std::move(product);
  record.op = &joined->op;
  record.kernel = {joined->description.c_str(), nullptr, run_with_tail};
  const TailAttrs attrs{joined.get()};
  record.attrs = AttrBytes(&attrs, sizeof attrs);
  record.tail = std::move(joined);
  return record;
}

}  // namespace thalweg
