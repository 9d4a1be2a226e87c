// The ops matmul and linear on the blocked products.

#include <thalweg/base/threads.h>

#include "kernels/cpu.h"
#include "kernels/gemm/operand.h"
#include "kernels/gemm/product.h"
#include "kernels/simd/targets.h"
#include "kernels/through_f32.h"
#include "ops/compose.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

using gemm::BatchPositions;
using gemm::Matrix;
using gemm::Product;

const char* refuse(const KernelContext& ctx) {
  return is_floating(ctx.in(0).meta.dtype) ? nullptr : "needs floating elements";
}

template <typename T>
Matrix<T> last_two_axes(const TensorImpl& tensor) {
  const size_t n = tensor.meta.shape.size();
  return {tensor.as<T>(), tensor.meta.strides[n - 2], tensor.meta.strides[n - 1]};
}

// A batch whose right operand is one matrix is one product of all rows, if they lie evenly.
template <typename T>
bool multiply_as_rows(const KernelContext& ctx, Product<T> p) {
  const TensorMeta &a = ctx.in(0).meta, &b = ctx.in(1).meta, &out = ctx.out().meta;
  if (element_count(b.shape) != p.k * p.n || element_count(a.shape) / p.k * p.n != out.size()) {
    return false;
  }
  const auto a_row = gemm::row_stride(a), c_row = gemm::row_stride(out);
  if (!a_row || !c_row) return false;
  p.m = out.size() / p.n;
  p.a.row = *a_row;
  p.c_row = *c_row;
  gemm::multiply(p);
  return true;
}

// True if it was one product.
template <typename T>
bool multiply_batch(const KernelContext& ctx, const Product<T>& matrix) {
  if (matrix.k > 0 && multiply_as_rows(ctx, matrix)) return true;
  const BatchPositions positions{ctx.out().meta, ctx.in(0).meta, ctx.in(1).meta};
  const BatchPositions out{ctx.out().meta, ctx.out().meta, ctx.out().meta};
  const auto one = [&](int64_t i) {
    Product<T> p = matrix;
    p.ready = nullptr;
    p.a.data += positions.in_a(i);
    p.b.data += positions.in_b(i);
    p.c += out.in_a(i);
    gemm::multiply(p);
  };
  // Few large matrices share the threads one after the other, many small ones side by side.
  constexpr int64_t kManyMatrices = 8;
  const int64_t count = positions.count();
  if (count < kManyMatrices) {
    for (int64_t i = 0; i < count; ++i) one(i);
  } else {
    const double flops = 2.0 * static_cast<double>(matrix.m) * static_cast<double>(matrix.n) *
                         static_cast<double>(matrix.k);
    parallel_tiles(count, flops / 60 + 50, one);
  }
  return false;
}

// Of one product the parts are told, if they are wanted; false where there are many.
template <typename T>
bool matmul(const KernelContext& ctx, const PartReady* ready = nullptr) {
  const TensorMeta& out = ctx.out().meta;
  const size_t dims = out.shape.size();
  const Shape& a_shape = ctx.in(0).meta.shape;
  const Product<T> p{.m = out.shape[dims - 2],
                     .n = out.shape[dims - 1],
                     .k = a_shape.back(),
                     .a = last_two_axes<T>(ctx.in(0)),
                     .b = last_two_axes<T>(ctx.in(1)),
                     .c = ctx.out().as<T>(),
                     .c_row = out.strides[dims - 2],
                     .ready = ready};
  if (dims == 2) gemm::multiply(p);
  return dims == 2 || out.size() == 0 || multiply_batch(ctx, p);
}

template <typename T>
void linear(const KernelContext& ctx, const PartReady* ready = nullptr) {
  const TensorImpl &x = ctx.in(0), &weight = ctx.in(1), &out = ctx.out();
  const int64_t n = weight.meta.shape[0], k = weight.meta.shape[1];
  Product<T> p{.m = n == 0 ? 0 : out.meta.size() / n,
               .n = n,
               .k = k,
               .a = {x.as<T>(), 0, x.meta.strides.back()},
               .b = {weight.as<T>(), weight.meta.strides[1], weight.meta.strides[0]},
               .c = out.as<T>(),
               .c_row = n,
               .ready = ready};
  if (ctx.has(2)) {
    p.bias = ctx.in(2).as<T>();
    p.bias_stride = ctx.in(2).meta.strides[0];
  }
  if (const auto row = gemm::row_stride(x.meta)) {
    p.a.row = *row;
    return gemm::multiply(p);
  }
  const IntrusivePtr<TensorImpl> copy = TensorImpl::create();
  copy->meta.dtype = x.meta.dtype;
  copy->meta.set_row_major(x.meta.shape);
  copy->allocate();
  copy_strided(*copy, x);
  p.a = {copy->as<T>(), k, 1};
  gemm::multiply(p);
}

void matmul_f32(const KernelContext& ctx) { matmul<float>(ctx); }
void linear_f32(const KernelContext& ctx) { linear<float>(ctx); }

void run_matmul(const KernelContext& ctx) {
  if (ctx.in(0).meta.dtype == DType::f64)
    matmul<double>(ctx);
  else
    run_through_f32<matmul_f32>(ctx);
}

void run_linear(const KernelContext& ctx) {
  ctx.in(0).meta.dtype == DType::f64 ? linear<double>(ctx) : run_through_f32<linear_f32>(ctx);
}

// Of f32.
void matmul_by_parts(const KernelContext& ctx, PartReady ready) {
  if (!matmul<float>(ctx, &ready)) ready(0, ctx.out().meta.size());
}

void linear_by_parts(const KernelContext& ctx, PartReady ready) { linear<float>(ctx, &ready); }

}  // namespace

void register_gemm_kernels() {
  if (!simd::is_supported()) return;
  add_kernel("matmul", DeviceKind::cpu, {"blocked", refuse, run_matmul});
  add_kernel("linear", DeviceKind::cpu, {"blocked", refuse, run_linear});
  add_by_parts(run_matmul, matmul_by_parts);
  add_by_parts(run_linear, linear_by_parts);
}

}  // namespace thalweg
