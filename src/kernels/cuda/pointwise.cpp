// Point-wise rows.

#include "kernels/cuda/device/walk.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/pointwise_text.h"
#include "kernels/simd/pointwise_rows.h"
#include "ops/compose.h"
#include "ops/pointwise_plan.h"
#include "ops/select.h"

namespace thalweg::cuda {
namespace {

using simd::PointwiseId;

PointwiseArgs arguments_of(const KernelContext& ctx) {
  static_assert(PointwiseArgs::kMostOperands == PointwisePlan::kMostOperands);
  static_assert(Walk<1>::kMostDims == kMaxDims);
  const PointwisePlan plan = plan_pointwise(ctx);
  PointwiseArgs args = {};
  args.data[0] = ctx.out().as<char>();
  for (size_t i = 0; i < ctx.inputs(); ++i) args.data[i + 1] = ctx.in(i).as<char>();
  args.walk.count = ctx.out().count;
  args.walk.dims = static_cast<int32_t>(plan.dims);
  for (size_t d = 0; d < plan.dims; ++d) {
    args.walk.shape[d] = plan.shape[d];
    for (size_t o = 0; o < plan.operands; ++o) args.walk.strides[d][o] = plan.strides[d][o];
  }
  return args;
}

template <typename Text>
void run(const KernelContext& ctx, JitKernel& kernel, const PointwiseArgs& args, Text&& text) {
  if (args.walk.count == 0) return;
  const Device device = ctx.out().meta.device;
  const cudaKernel_t handle = kernel.get(device, text);
  launch(device, handle, blocks_for(device, args.walk.count), &args);
}

std::string source_of(const std::string& functor, DType out, std::span<const DType> in) {
  return kernel_source("pointwise", "PointwiseArgs", pointwise_call(functor, out, in));
}

// --- the rows of pointwise_texts() ---

constexpr size_t kClip = static_cast<size_t>(PointwiseId::count);
constexpr size_t kNot = kClip + 1;

template <size_t kRow>
void run_row(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];  // by the inputs' dtype
  const DType dtype = ctx.in(0).meta.dtype;
  PointwiseArgs args = arguments_of(ctx);
  if constexpr (kRow == kClip) {
    args.numbers[0] = ctx.attrs<ClipAttrs>().low;
    args.numbers[1] = ctx.attrs<ClipAttrs>().high;
  }
  run(ctx, kernels[static_cast<int>(dtype)], args, [&] {
    const PointwiseText& text = pointwise_texts()[kRow];
    const DType in[] = {dtype, dtype, dtype};
    return source_of(text.functor, ctx.out().meta.dtype,
                     std::span(in).first(static_cast<size_t>(text.inputs)));
  });
}

template <PointwiseId kId>
void run_id(const KernelContext& ctx) {
  run_row<static_cast<size_t>(kId)>(ctx);
}

// --- cast, where, copies ---

void run_cast(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes][kDTypes];
  const DType in = ctx.in(0).meta.dtype, out = ctx.out().meta.dtype;
  run(ctx, kernels[static_cast<int>(in)][static_cast<int>(out)], arguments_of(ctx), [&] {
    return source_of(*functor_of(ctx.op(), out), out, {&in, 1});
  });
}

// Both move bits, whatever they stand for.
DType integer_of_size(size_t bytes) {
  return bytes == 1 ? DType::u8 : bytes == 2 ? DType::i16 : bytes == 4 ? DType::i32 : DType::i64;
}

void run_where(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  const DType dtype = integer_of_size(item_size(ctx.out().meta.dtype));
  run(ctx, kernels[static_cast<int>(dtype)], arguments_of(ctx), [&] {
    const DType in[] = {DType::boolean, dtype, dtype};
    return source_of("Where", dtype, in);
  });
}

void run_copy(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  const DType dtype = integer_of_size(item_size(ctx.out().meta.dtype));
  run(ctx, kernels[static_cast<int>(dtype)], arguments_of(ctx), [&] {
    return source_of("Copy", dtype, {&dtype, 1});
  });
}

}  // namespace

void register_pointwise() {
  const auto add = [](const char* name, void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cuda, {"nvrtc", refuse_without_compiler, run});
  };
#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc) \
  add(#name, run_id<PointwiseId::name>);                           \
  add(#name "_vjp", run_id<PointwiseId::name##_vjp>);
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) add(#name, run_id<PointwiseId::name>);
#define THALWEG_UNARY_TEST(name, forward, doc) add(#name, run_id<PointwiseId::name>);
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  add(#name, run_id<PointwiseId::name>);
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc) add(#name, run_id<PointwiseId::name>);
#define THALWEG_COMPARE(name, forward, doc) add(#name, run_id<PointwiseId::name>);
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE
  add("clip", run_row<kClip>);
  add("logical_not", run_row<kNot>);
  add("cast", run_cast);
  add("where", run_where);
  add("contiguous", run_copy);
}

}  // namespace thalweg::cuda
