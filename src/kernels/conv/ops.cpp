// The ops of the convolution family on products of patches.

#include "device/scratch.h"
#include "kernels/conv/columns_conv.h"
#include "kernels/cpu.h"
#include "kernels/gemm/pack.h"
#include "kernels/simd/targets.h"
#include "kernels/through_f32.h"
#include "ops/compose.h"
#include "ops/conv.h"
#include "ops/layout.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

using Strides = decltype(ConvProblem::y);

// Channels side by side, pixels evenly behind each other.
bool is_even(const Strides& s, int64_t channels, const int64_t (&sizes)[3]) {
  return (channels == 1 || s.channel == 1) &&
         (sizes[1] == 1 || s.spatial[1] == sizes[2] * s.spatial[2]) &&
         (sizes[0] == 1 || s.spatial[0] == sizes[1] * sizes[2] * s.spatial[2]);
}

Strides strides_of(const TensorMeta& meta) {
  Strides s{meta.strides[0], meta.strides[1], {0, 0, 0}};
  const size_t axes = meta.shape.size() - 2;
  for (size_t i = 0; i < axes; ++i) s.spatial[3 - axes + i] = meta.strides[2 + i];
  return s;
}

IntrusivePtr<TensorImpl> channels_last_copy(const TensorImpl& from) {
  IntrusivePtr<TensorImpl> copy = TensorImpl::create();
  copy->meta.dtype = from.meta.dtype;
  copy->meta.shape = from.meta.shape;
  copy->meta.strides = channels_last_strides(from.meta.shape);
  copy->allocate();
  copy_strided(*copy, from);
  return copy;
}

// The problem's y, when it is an input: as it is, or a copy with channels last.
template <typename T>
class EvenResult {
 public:
  EvenResult(ConvProblem& p, const TensorImpl& y) : data_(y.as<T>()) {
    if (is_even(p.y, p.groups * p.out_channels, p.out)) return;
    copy_ = channels_last_copy(y);
    p.y = strides_of(copy_->meta);
    data_ = copy_->as<T>();
  }
  const T* data() const { return data_; }

 private:
  const T* data_;
  IntrusivePtr<TensorImpl> copy_;
};

// The bias of a call with contiguous elements; null if there is none.
template <typename T>
class Bias {
 public:
  explicit Bias(const KernelContext& ctx)
      : copy_(ctx.has(2) && ctx.in(2).meta.strides[0] != 1 ? ctx.in(2).meta.size() : 0) {
    if (!ctx.has(2)) return;
    const TensorMeta& meta = ctx.in(2).meta;
    data_ = ctx.in(2).as<T>();
    if (meta.strides[0] == 1) return;
    gemm::pack({data_, meta.strides[0], 1}, meta.size(), 1, copy_.data(), 1);
    data_ = copy_.data();
  }
  const T* data() const { return data_; }

 private:
  const T* data_ = nullptr;
  Scratch<T> copy_;
};

template <typename T>
void run_conv(const KernelContext& ctx) {
  const ConvProblem p = conv_problem(ctx);
  const Bias<T> bias(ctx);
  conv::forward(p, ctx.in(0).as<T>(), ctx.in(1).as<T>(), bias.data(), ctx.out().as<T>());
}

template <typename T>
void run_conv_transpose(const KernelContext& ctx) {
  ConvProblem p = conv_problem(ctx);
  const EvenResult<T> y(p, ctx.in(0));
  const Bias<T> bias(ctx);
  conv::transpose(p, y.data(), ctx.in(1).as<T>(), bias.data(), ctx.out().as<T>());
}

template <typename T>
void run_conv_weight_gradient(const KernelContext& ctx) {
  ConvProblem p = conv_problem(ctx);
  const EvenResult<T> y(p, ctx.in(1));
  conv::weight_gradient(p, ctx.in(0).as<T>(), y.data(), ctx.out().as<T>());
}

template <void (*kF32)(const KernelContext&), void (*kF64)(const KernelContext&)>
void run_by_dtype(const KernelContext& ctx) {
  if (ctx.out().meta.size() == 0) return;
  ctx.in(0).meta.dtype == DType::f64 ? kF64(ctx) : run_through_f32<kF32>(ctx);
}

}  // namespace

void register_conv_kernels() {
  if (!simd::is_supported()) return;
  add_kernel("conv", DeviceKind::cpu,
             {"patches", nullptr, run_by_dtype<run_conv<float>, run_conv<double>>});
  add_kernel(
      "conv_transpose", DeviceKind::cpu,
      {"patches", nullptr, run_by_dtype<run_conv_transpose<float>, run_conv_transpose<double>>});
  add_kernel("conv_weight_gradient", DeviceKind::cpu,
             {"patches", nullptr,
              run_by_dtype<run_conv_weight_gradient<float>, run_conv_weight_gradient<double>>});
}

}  // namespace thalweg
