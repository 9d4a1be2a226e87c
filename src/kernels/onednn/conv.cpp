// The convolution family on oneDNN's direct kernels.

#include <algorithm>

#include <thalweg/base/threads.h>

#include "kernels/onednn/conv_plan.h"
#include "kernels/onednn/register.h"
#include "ops/compose.h"

namespace thalweg {
namespace {

using onednn::ConvKey;
using onednn::ConvPart;
using onednn::ConvPass;
using onednn::ConvPlan;

template <ConvPass kPass>
ConvKey key_of(const KernelContext& ctx) {
  return {kPass, static_cast<int64_t>(ctx.in(0).meta.dtype), ctx.has(2), conv_problem(ctx)};
}

const char* refuse_small_data(const ConvProblem& p) {
  if (p.groups > 1) return nullptr;
  if (p.in_channels < 16) return "fewer than 16 channels: products of patches are faster";
  return p.stride[1] > 1 || p.stride[2] > 1 ? "a stride: products of patches are faster" : nullptr;
}

template <ConvPass kPass>
const char* refuse(const KernelContext& ctx) {
  const DType dtype = ctx.in(0).meta.dtype;
  if (dtype == DType::f64) return "needs f32, bf16 or f16";
  if (ctx.in(0).meta.size() == 0 || ctx.in(1).meta.size() == 0 || ctx.out().meta.size() == 0) {
    return "an empty tensor";
  }
  if (ctx.has(2) && (kPass == ConvPass::data || ctx.in(2).meta.strides[0] != 1)) {
    return "a bias that does not fit oneDNN";
  }
  const ConvKey key = key_of<kPass>(ctx);
  if (kPass == ConvPass::data && dtype == DType::f32) {
    if (const char* reason = refuse_small_data(key.problem)) return reason;
  }
  return onednn::conv_plan(key)->refusal;
}

// Calls f(part, image it begins with, number of the part) for the whole batch, over the threads.
template <typename F>
void for_each_part(const ConvPlan& plan, const ConvProblem& p, F&& f) {
  const int64_t images = plan.part.images, parts = (p.batch + images - 1) / images;
  constexpr double kWorthAThreadNs = 40000;
  parallel_tiles(parts, kWorthAThreadNs, [&](int64_t i) {
    f((i + 1) * images <= p.batch ? plan.part : plan.rest, i * images, i);
  });
}

// Bytes of n elements of the tensor.
int64_t bytes(const TensorImpl& tensor, int64_t n) {
  return n * static_cast<int64_t>(item_size(tensor.meta.dtype));
}

const void* at(const TensorImpl& tensor, int64_t image) {
  return tensor.as<std::byte>() + bytes(tensor, image * tensor.meta.strides[0]);
}

Scratch<std::byte> packed_weights(const ConvPlan& plan, const TensorImpl& w) {
  Scratch<std::byte> packed(static_cast<int64_t>(plan.part.w.get_size()));
  onednn::run(plan.reorder, plan.reorder_scratchpad,
              {{DNNL_ARG_FROM, plan.plain_w, w.data}, {DNNL_ARG_TO, plan.part.w, packed.data()}});
  return packed;
}

void forward(const KernelContext& ctx) {
  const ConvKey key = key_of<ConvPass::forward>(ctx);
  const auto plan = onednn::conv_plan(key);
  const auto weights = packed_weights(*plan, ctx.in(1));
  for_each_part(*plan, key.problem, [&](const ConvPart& part, int64_t image, int64_t) {
    const onednn::Argument x{DNNL_ARG_SRC, part.x, at(ctx.in(0), image)};
    const onednn::Argument w{DNNL_ARG_WEIGHTS, part.w, weights.data()};
    const onednn::Argument y{DNNL_ARG_DST, part.y, at(ctx.out(), image)};
    if (ctx.has(2))
      onednn::run(part.primitive, part.scratchpad,
                  {x, w, y, {DNNL_ARG_BIAS, plan->bias, ctx.in(2).data}});
    else
      onednn::run(part.primitive, part.scratchpad, {x, w, y});
  });
}

void data(const KernelContext& ctx) {
  const ConvKey key = key_of<ConvPass::data>(ctx);
  const auto plan = onednn::conv_plan(key);
  const auto weights = packed_weights(*plan, ctx.in(1));
  for_each_part(*plan, key.problem, [&](const ConvPart& part, int64_t image, int64_t) {
    onednn::run(part.primitive, part.scratchpad,
                {{DNNL_ARG_DIFF_DST, part.y, at(ctx.in(0), image)},
                 {DNNL_ARG_WEIGHTS, part.w, weights.data()},
                 {DNNL_ARG_DIFF_SRC, part.x, at(ctx.out(), image)}});
  });
}

// Each part of the batch gives its own sums; they are added in order, whatever the threads.
void weights(const KernelContext& ctx) {
  const ConvKey key = key_of<ConvPass::weights>(ctx);
  const auto plan = onednn::conv_plan(key);
  const int64_t size = static_cast<int64_t>(plan->part.w.get_size() / sizeof(float));
  const int64_t images = plan->part.images, parts = (key.problem.batch + images - 1) / images;
  const Scratch<float> sums(parts * size);
  for_each_part(*plan, key.problem, [&](const ConvPart& part, int64_t image, int64_t i) {
    onednn::run(part.primitive, part.scratchpad,
                {{DNNL_ARG_SRC, part.x, at(ctx.in(0), image)},
                 {DNNL_ARG_DIFF_DST, part.y, at(ctx.in(1), image)},
                 {DNNL_ARG_DIFF_WEIGHTS, part.w, sums.data() + i * size}});
  });
  float* total = sums.data();
  for (int64_t i = 1; i < parts; ++i) {
    for (int64_t j = 0; j < size; ++j) total[j] += sums.data()[i * size + j];
  }
  onednn::run(plan->reorder, plan->reorder_scratchpad,
              {{DNNL_ARG_FROM, plan->part.w, total}, {DNNL_ARG_TO, plan->plain_w, ctx.out().data}});
}

}  // namespace

void onednn::register_conv() {
  add_kernel("conv", DeviceKind::cpu, {"onednn", refuse<ConvPass::forward>, forward});
  add_kernel("conv_transpose", DeviceKind::cpu, {"onednn", refuse<ConvPass::data>, data});
  add_kernel("conv_weight_gradient", DeviceKind::cpu,
             {"onednn", refuse<ConvPass::weights>, weights});
}

}  // namespace thalweg
