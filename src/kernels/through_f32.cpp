#include "kernels/through_f32.h"

#include <thalweg/base/threads.h>

#include "base/fail.h"
#include "kernels/simd/half_row.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

const simd::Converters& converters() {
  static const simd::Converters table = [] {
    simd::Converters c;
    simd::fill_converters(c);
    return c;
  }();
  return table;
}

constexpr int64_t kGrain = 16 * 1024;
constexpr double kElementNs = 0.15;

void widen(DType dtype, const uint16_t* from, float* to, int64_t n) {
  const auto convert = dtype == DType::f16 ? converters().f32_from_f16 : converters().f32_from_bf16;
  parallel_ranges(n, kGrain, kElementNs, [&](int64_t begin, int64_t end) {
    convert(from + begin, to + begin, end - begin);
  });
}

void narrow(DType dtype, const float* from, uint16_t* to, int64_t n) {
  const auto convert = dtype == DType::f16 ? converters().f16_from_f32 : converters().bf16_from_f32;
  parallel_ranges(n, kGrain, kElementNs, [&](int64_t begin, int64_t end) {
    convert(from + begin, to + begin, end - begin);
  });
}

IntrusivePtr<TensorImpl> empty_like(const TensorMeta& meta, DType dtype) {
  IntrusivePtr<TensorImpl> impl = TensorImpl::create();
  impl->meta = meta;
  impl->meta.dtype = dtype;
  impl->meta.offset = 0;
  if (!meta.is_dense()) impl->meta.set_row_major(meta.shape);
  impl->allocate();
  return impl;
}

IntrusivePtr<TensorImpl> as_f32(const TensorImpl& half) {
  if (!half.meta.is_dense()) {
    const IntrusivePtr<TensorImpl> dense = empty_like(half.meta, half.meta.dtype);
    copy_strided(*dense, half);
    return as_f32(*dense);
  }
  IntrusivePtr<TensorImpl> wide = empty_like(half.meta, DType::f32);
  widen(half.meta.dtype, half.as<uint16_t>(), wide->as<float>(), half.meta.size());
  return wide;
}

}  // namespace

ThroughF32::ThroughF32(const KernelContext& ctx) : ctx_(ctx) {
  THALWEG_ASSERT(ctx.inputs() + ctx.outputs() <= kMost);
  for (size_t i = 0; i < ctx.inputs(); ++i) {
    if (!ctx.has(i)) continue;
    if (!is_half(ctx.in(i).meta.dtype)) {
      inputs_[i] = &ctx.in(i);
      continue;
    }
    kept_[n_kept_] = as_f32(ctx.in(i));
    inputs_[i] = kept_[n_kept_++].get();
  }
  for (size_t i = 0; i < ctx.outputs(); ++i) {
    kept_[n_kept_] = empty_like(ctx.out(i).meta, DType::f32);
    outputs_[i] = kept_[n_kept_++].get();
  }
}

KernelContext ThroughF32::context() const {
  return {ctx_.op(),
          ctx_.raw_attrs(),
          {inputs_.data(), ctx_.inputs()},
          {outputs_.data(), ctx_.outputs()}};
}

void ThroughF32::finish() const {
  for (size_t i = 0; i < ctx_.outputs(); ++i) {
    const TensorImpl& out = ctx_.out(i);
    const TensorImpl& wide = *outputs_[i];
    if (out.meta.strides == wide.meta.strides) {
      narrow(out.meta.dtype, wide.as<float>(), out.as<uint16_t>(), out.meta.size());
      continue;
    }
    const IntrusivePtr<TensorImpl> dense = empty_like(out.meta, out.meta.dtype);
    narrow(out.meta.dtype, wide.as<float>(), dense->as<uint16_t>(), out.meta.size());
    copy_strided(out, *dense);
  }
}

}  // namespace thalweg
