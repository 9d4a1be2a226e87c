#include "graph/fusion.h"

#include <algorithm>

#include <thalweg/base/threads.h>

#include "base/fail.h"
#include "device/scratch.h"

namespace thalweg {
namespace {

// Eight f32 tiles fill a first-level cache of 32 KiB.
constexpr int64_t kTile = 1024;
constexpr int64_t kTilesAtOnce = 16;  // for which operands are set up together
constexpr double kElementNs = 0.4;    // of one record

struct FusedAttrs {
  const FusedBody* body = nullptr;  // the plan keeps it alive
  static auto fields() { return std::tuple{}; }
};

/// The operands of one thread, shown where its tile is. Takes nothing from the heap.
class Tile {
 public:
  Tile(const KernelContext& ctx, const FusedBody& body) : body_(body), inner_(inner_bytes(body)) {
    char* inner = inner_.data();
    for (size_t i = 0; i < body.operands.size(); ++i) {
      impls_[i] = TensorImpl::create();
      impls_[i]->meta.dtype = body.operands[i].dtype;
      base_[i] = inner;
      if (i < body.inputs)
        base_[i] = ctx.in(i).as<char>();
      else if (!is_inner(i))
        base_[i] = ctx.out(i - body.inputs).as<char>();
      else
        inner += kTile * static_cast<int64_t>(item_size(body.operands[i].dtype));
    }
    const TensorImpl** at = inputs_;
    for (const FusedBody::Part& part : body.parts) {
      for (const uint32_t i : part.inputs) *at++ = impls_[i].get();
    }
  }

  void run(int64_t first, int64_t n) {
    for (size_t i = 0; i < body_.operands.size(); ++i) show(i, first, n);
    const TensorImpl** at = inputs_;
    for (const FusedBody::Part& part : body_.parts) {
      TensorImpl* const output = impls_[part.output].get();
      part.kernel.run(
          KernelContext(*part.op, part.attrs.data(), {at, part.inputs.size()}, {&output, 1}));
      at += part.inputs.size();
    }
  }

 private:
  static int64_t inner_bytes(const FusedBody& body) {
    int64_t bytes = 0;
    for (size_t i = body.inputs + body.outputs; i < body.operands.size(); ++i)
      bytes += kTile * static_cast<int64_t>(item_size(body.operands[i].dtype));
    return bytes;
  }
  bool is_inner(size_t i) const { return i >= body_.inputs + body_.outputs; }

  void show(size_t i, int64_t first, int64_t n) {
    TensorImpl& impl = *impls_[i];
    const bool repeats = body_.operands[i].repeats;
    const bool moves = !repeats && !is_inner(i);
    impl.data = base_[i] + (moves ? first * static_cast<int64_t>(item_size(impl.meta.dtype)) : 0);
    const int64_t count = repeats ? 1 : n;
    if (impl.count == count) return;
    impl.meta.set_row_major({count});
    impl.count = count;
  }

  const FusedBody& body_;
  const Scratch<char> inner_;
  char* base_[FusedBody::kMostOperands];
  IntrusivePtr<TensorImpl> impls_[FusedBody::kMostOperands];
  const TensorImpl* inputs_[FusedBody::kMostParts * FusedBody::kMostInputs];
};

void run_fused(const KernelContext& ctx) {
  const FusedBody& body = *ctx.attrs<FusedAttrs>().body;
  if (body.device_kernel) return body.device_kernel->run(ctx);
  const int64_t count = ctx.out().count;
  const double ns = kElementNs * static_cast<double>(body.parts.size());
  parallel_ranges(count, kTile * kTilesAtOnce, ns,
                  [&](int64_t begin, int64_t end) { run_tiles(ctx, body, begin, end); });
}

constexpr Op fused_op(OpFlags flags) {
  return {.name = "fused",
          .doc = "Point-wise ops one after the other.",
          .inputs = "tensors...",
          .attrs = attr_info<FusedAttrs>,
          .flags = flags,
          .outputs = Op::kVariableOutputs,
          .infer = nullptr,
          .no_gradient = "it is part of a plan",
          .reference = run_fused};
}

// Not in the table: they are made of other rows.
const Op kFused = fused_op({.internal = true});
const Op kFusedInPlace = fused_op({.pointwise = true, .in_place = true, .internal = true});

// True if the output may lie over an input: nothing is read after the first write.
bool writes_last(const FusedBody& body) {
  if (body.outputs != 1) return false;
  return std::ranges::all_of(body.parts, [&](const FusedBody::Part& part) {
    return (part.output == body.inputs) == (&part == &body.parts.back());
  });
}

}  // namespace

void run_tiles(const KernelContext& ctx, const FusedBody& body, int64_t first, int64_t last) {
  Tile tile(ctx, body);
  for (int64_t at = first; at < last; at += kTile) tile.run(at, std::min(kTile, last - at));
}

FusedRun FusedBody::as_run() const {
  FusedRun run;
  for (const Part& part : parts)
    run.parts.push_back({part.op, part.attrs.data(), part.inputs, part.output});
  run.operands = operands;
  run.inputs = inputs;
  run.outputs = outputs;
  return run;
}

PlanRecord fused_record(std::shared_ptr<FusedBody> body, std::vector<TraceOperand> inputs,
                        std::vector<TraceOperand> outputs) {
  PlanRecord record;
  record.op = writes_last(*body) ? &kFusedInPlace : &kFused;
  record.kernel = {body->description.c_str(), nullptr, run_fused};
  const FusedAttrs attrs{body.get()};
  record.attrs = AttrBytes(&attrs, sizeof attrs);
  record.inputs = std::move(inputs);
  record.outputs = std::move(outputs);
  record.body = std::move(body);
  return record;
}

}  // namespace thalweg
