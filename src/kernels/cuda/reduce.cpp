// sum and mean.

#include "ops/reduce.h"

#include <string>

#include "base/fail.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/nvrtc.h"
#include "kernels/cuda/walks.h"
#include "ops/compose.h"

namespace thalweg::cuda {
namespace {

ReduceArgs arguments_of(const KernelContext& ctx) {
  const TensorMeta& in = ctx.in(0).meta;
  const ReduceAttrs& attrs = ctx.attrs<ReduceAttrs>();
  WalkMaker<2> results;
  WalkMaker<1> folded;
  int64_t out_stride = static_cast<int64_t>(item_size(ctx.out().meta.dtype));
  for (size_t axis = in.shape.size(); axis-- > 0;) {
    const bool folds =
        std::ranges::find(attrs.axes, static_cast<int64_t>(axis)) != attrs.axes.end();
    const int64_t size = in.shape[axis], stride = byte_stride(in, axis);
    if (folds) {
      folded.add(size, {stride});
    } else {
      results.add(size, {out_stride, stride});
      out_stride *= size;
    }
  }
  ReduceArgs args = {};
  args.out = ctx.out().as<char>();
  args.in = ctx.in(0).as<const char>();
  args.results = results.finish();
  args.folded = folded.finish();
  return args;
}

// Results that are neighbours in the input, of elements that are not.
bool by_columns(const ReduceArgs& args, size_t bytes) {
  const auto one = static_cast<int64_t>(bytes);
  return args.results.count >= 16 && args.results.strides[0][1] == one &&
         args.folded.strides[0][0] != one;
}

template <bool kMean>
void run(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes][2];
  const Device device = ctx.out().meta.device;
  const DType in = ctx.in(0).meta.dtype;
  const ReduceArgs args = arguments_of(ctx);
  if (args.results.count == 0) return;
  const bool columns = by_columns(args, item_size(in));
  const auto text = [&] {
    return kernel_source("reduce", "ReduceArgs",
                         fmt::format("{}<{}, {}, {}>", columns ? "sum_by_columns" : "sum_by_blocks",
                                     kMean, element_type(ctx.out().meta.dtype), element_type(in)));
  };
  const cudaKernel_t kernel = kernels[static_cast<int>(in)][columns].get(device, text);
  const int64_t blocks = columns ? (args.results.count + 31) / 32 : args.results.count;
  launch(device, kernel, blocks_for(device, blocks * kThreads), &args);
}

}  // namespace

void register_reductions() {
  add_kernel("sum", DeviceKind::cuda, {"nvrtc", refuse_without_compiler, run<false>});
  add_kernel("mean", DeviceKind::cuda, {"nvrtc", refuse_without_compiler, run<true>});
}

}  // namespace thalweg::cuda
