// matmul and linear.

#include "base/fail.h"
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/walks.h"
#include "kernels/gemm/operand.h"

namespace thalweg::cuda {
namespace {

// The leading axes of matrices, in out's shape.
Walk<3> batches_of(const TensorMeta& out, const TensorMeta& a, const TensorMeta& b,
                   size_t matrix_axes) {
  const auto stride = [](const TensorMeta& m, size_t from_right) {
    return from_right > m.shape.size() ? 0 : byte_stride(m, m.shape.size() - from_right);
  };
  WalkMaker<3> walk;
  for (size_t from_right = matrix_axes + 1; from_right <= out.shape.size(); ++from_right) {
    walk.add(out.shape[out.shape.size() - from_right],
             {stride(out, from_right), stride(a, from_right), stride(b, from_right)});
  }
  return walk.finish();
}

ProductArgs places_of(const KernelContext& ctx) {
  ProductArgs args = {};
  args.out = ctx.out().as<char>();
  args.a = ctx.in(0).as<const char>();
  args.b = ctx.in(1).as<const char>();
  return args;
}

ProductArgs matmul_arguments(const KernelContext& ctx) {
  const TensorMeta &a = ctx.in(0).meta, &b = ctx.in(1).meta, &out = ctx.out().meta;
  const size_t na = a.shape.size(), nb = b.shape.size();
  ProductArgs args = places_of(ctx);
  args.m = a.shape[na - 2];
  args.k = a.shape[na - 1];
  args.n = b.shape[nb - 1];
  args.a_row = byte_stride(a, na - 2);
  args.a_column = byte_stride(a, na - 1);
  args.b_row = byte_stride(b, nb - 2);
  args.b_column = byte_stride(b, nb - 1);
  args.batches = batches_of(out, a, b, 2);
  return args;
}

// x [..., K], weight [N, K], bias [N]: rows of x are one matrix where they follow each other.
ProductArgs linear_arguments(const KernelContext& ctx) {
  const TensorMeta &x = ctx.in(0).meta, &weight = ctx.in(1).meta, &out = ctx.out().meta;
  const auto bytes = static_cast<int64_t>(item_size(x.dtype));
  const size_t last = x.shape.size() - 1;
  ProductArgs args = places_of(ctx);
  args.k = x.shape[last];
  args.n = weight.shape[0];
  args.a_column = byte_stride(x, last);
  args.b_row = byte_stride(weight, 1);
  args.b_column = byte_stride(weight, 0);
  if (const auto stride = gemm::row_stride(x)) {
    args.m = args.n ? ctx.out().count / args.n : 0;
    args.a_row = args.m == 1 ? 0 : *stride * bytes;
    args.batches = WalkMaker<3>().finish();
  } else {
    args.m = x.shape[last - 1];
    args.a_row = byte_stride(x, last - 1);
    TensorMeta no_axes = weight;
    no_axes.set_row_major({});
    args.batches = batches_of(out, x, no_axes, 2);
  }
  if (ctx.has(2)) {
    args.bias = ctx.in(2).as<const char>();
    args.bias_step = byte_stride(ctx.in(2).meta, 0);
  }
  return args;
}

using Arguments = ProductArgs (*)(const KernelContext&);

template <Arguments kArguments>
const char* refuse_cublas(const KernelContext& ctx) {
  return refuse_product(ctx.out().meta.device, ctx.out().meta.dtype, kArguments(ctx));
}

template <Arguments kArguments>
void run_plain(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  if (ctx.out().count == 0) return;
  const Device device = ctx.out().meta.device;
  const DType dtype = ctx.out().meta.dtype;
  const ProductArgs args = kArguments(ctx);
  const cudaKernel_t kernel = kernels[static_cast<int>(dtype)].get(device, [&] {
    return kernel_source("product", "ProductArgs",
                         fmt::format("plain_product<{}>", element_type(dtype)));
  });
  launch(device, kernel, blocks_for(device, ctx.out().count), &args);
}

template <Arguments kArguments>
void run_cublas(const KernelContext& ctx) {
  if (!run_product(ctx.out().meta.device, ctx.out().meta.dtype, kArguments(ctx)))
    run_plain<kArguments>(ctx);
}

}  // namespace

void register_products() {
  add_kernel("matmul", DeviceKind::cuda,
             {"cublaslt", refuse_cublas<matmul_arguments>, run_cublas<matmul_arguments>});
  add_kernel("matmul", DeviceKind::cuda,
             {"nvrtc", refuse_without_compiler, run_plain<matmul_arguments>});
  add_kernel("linear", DeviceKind::cuda,
             {"cublaslt", refuse_cublas<linear_arguments>, run_cublas<linear_arguments>});
  add_kernel("linear", DeviceKind::cuda,
             {"nvrtc", refuse_without_compiler, run_plain<linear_arguments>});
}

}  // namespace thalweg::cuda
