#include "tensor/copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <thalweg/base/inline_vector.h>
#include <thalweg/base/threads.h>

namespace thalweg {
namespace {

struct CopyAxis {
  int64_t size;
  int64_t out;  // strides, in elements
  int64_t in;
};
using CopyAxes = InlineVector<CopyAxis, kMaxDims>;

// The axes without those of size 1, from the outermost of `out` to the innermost; neighbours that
// both tensors walk without a jump are joined.
CopyAxes copy_axes(const TensorMeta& out, const TensorMeta& in) {
  CopyAxes sorted;
  for (size_t i = 0; i < out.shape.size(); ++i) {
    if (out.shape[i] == 1) continue;
    sorted.push_back({out.shape[i], out.strides[i], in.strides[i]});
    for (size_t k = sorted.size(); k-- > 1 && sorted[k].out > sorted[k - 1].out;) {
      std::swap(sorted[k], sorted[k - 1]);
    }
  }
  CopyAxes axes;
  for (const CopyAxis& a : sorted) {
    const bool joins =
        !axes.empty() && axes.back().out == a.out * a.size && axes.back().in == a.in * a.size;
    if (joins)
      axes.back() = {axes.back().size * a.size, a.out, a.in};
    else
      axes.push_back(a);
  }
  return axes;
}

// Where the elements of a row are no neighbours in the input but those across rows are, moves the
// axis of these to the last but one place: both are then copied in square blocks.
void pair_axes(CopyAxes& axes) {
  if (axes.size() < 2 || axes.back().in == 1) return;
  const size_t last = axes.size() - 1;
  for (size_t k = 0; k < last; ++k) {
    if (axes[k].in != 1) continue;
    for (; k + 1 < last; ++k) std::swap(axes[k], axes[k + 1]);
    return;
  }
}

template <typename T>
void copy_row(T* to, const T* from, const CopyAxis& a) {
  if (a.out == 1 && a.in == 1) {
    std::memcpy(to, from, static_cast<size_t>(a.size) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < a.size; ++i) to[i * a.out] = from[i * a.in];
}

// A block's rows of both tensors stay in the first cache.
template <typename T>
void copy_blocks(T* to, const T* from, const CopyAxis& across, const CopyAxis& along) {
  constexpr int64_t kBlock = 32;
  for (int64_t i = 0; i < along.size; i += kBlock) {
    const int64_t n = std::min(kBlock, along.size - i);
    for (int64_t k = 0; k < across.size; ++k) {
      copy_row(to + k * across.out + i * along.out, from + k * across.in + i * along.in,
               {n, along.out, along.in});
    }
  }
}

template <typename T>
void copy_nested(T* to, const T* from, const CopyAxes& axes, size_t depth) {
  if (depth == axes.size()) {
    *to = *from;
  } else if (depth + 1 == axes.size()) {
    copy_row(to, from, axes[depth]);
  } else if (depth + 2 == axes.size() && axes[depth].in == 1) {
    copy_blocks(to, from, axes[depth], axes[depth + 1]);
  } else {
    for (int64_t i = 0; i < axes[depth].size; ++i) {
      copy_nested(to + i * axes[depth].out, from + i * axes[depth].in, axes, depth + 1);
    }
  }
}

template <typename T>
void copy_typed(const TensorImpl& out, const TensorImpl& in) {
  constexpr double kElementNs = 0.5;
  constexpr int64_t kTileElements = 32768;
  T* to = out.as<T>();
  const T* from = in.as<T>();
  CopyAxes axes = copy_axes(out.meta, in.meta);
  pair_axes(axes);
  const int64_t count = out.meta.size();
  if (count <= kTileElements) {
    if (count) copy_nested(to, from, axes, 0);
    return;
  }
  // Cut along the outermost axis.
  const CopyAxis first = axes[0];
  const int64_t inner = count / first.size;
  const int64_t grain = std::max<int64_t>(1, kTileElements / inner);
  parallel_ranges(first.size, grain, kElementNs * static_cast<double>(inner),
                  [&](int64_t begin, int64_t end) {
                    CopyAxes part = axes;
                    part[0].size = end - begin;
                    copy_nested(to + begin * first.out, from + begin * first.in, part, 0);
                  });
}

// Runs f with an unsigned integer of the item's size: copying does not look at the bits.
template <typename F>
void visit_item_size(DType dtype, F&& f) {
  switch (item_size(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

}  // namespace

void fill_bytes_zero(const TensorImpl& out) {
  if (out.meta.device.kind == DeviceKind::cpu) {
    const size_t bytes = static_cast<size_t>(out.count) * item_size(out.meta.dtype);
    if (bytes) std::memset(out.data, 0, bytes);
    return;
  }
  const uint64_t zero = 0;
  fill_elements(out, &zero);
}

void fill_elements(const TensorImpl& out, const void* element) {
  const size_t count = static_cast<size_t>(out.meta.size());
  Tensor host;
  const TensorImpl* target = &out;
  if (out.meta.device.kind != DeviceKind::cpu) {
    host = Tensor::empty(out.meta.shape, {out.meta.dtype, Device::cpu()});
    target = host.impl();
  }
  visit_item_size(out.meta.dtype, [&](auto zero) {
    using U = decltype(zero);
    U value;
    std::memcpy(&value, element, sizeof value);
    std::fill_n(target->as<U>(), count, value);
  });
  if (target != &out) {
    copy_bytes(out.meta.device, out.data, Device::cpu(), target->data,
               count * item_size(out.meta.dtype));
  }
}

void copy_strided(const TensorImpl& out, const TensorImpl& in) {
  visit_item_size(out.meta.dtype, [&](auto zero) { copy_typed<decltype(zero)>(out, in); });
}

Tensor to_host(const Tensor& tensor) {
  const TensorImpl& in = *tensor.impl();
  tell_host_access(in, "its elements were looked at");
  if (in.meta.device.kind == DeviceKind::cpu) return tensor;
  // The whole block travels, so that strides stay as they are.
  IntrusivePtr<TensorImpl> out = TensorImpl::create();
  out->meta = in.meta;
  out->meta.device = Device::cpu();
  out->alias(Storage::allocate(Device::cpu(), in.storage->bytes()));
  copy_bytes(Device::cpu(), out->storage->data(), in.meta.device, in.storage->data(),
             in.storage->bytes());
  return Tensor(std::move(out));
}

}  // namespace thalweg
