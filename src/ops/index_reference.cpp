// The kernels of ops on positions. They are plain loops, and limited by memory as any other.

#include "ops/index_reference.h"

#include <cstring>
#include <optional>

#include <thalweg/base/threads.h>

#include "ops/index_values.h"
#include "ops/reference.h"
#include "ops/walk.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

// Sums are made in f32 for halves, else in the element's type.
template <typename T>
using Sum = ComputeType<T>;

template <typename T>
void add_to(Sum<T>& total, T value) {
  total = (Scalar<Sum<T>>(total) + Scalar<Sum<T>>(static_cast<Sum<T>>(value))).v;
}

// Sums of `count` elements of T, in place at `out` where T needs no wider type.
template <typename T>
class Sums {
 public:
  Sums(T* out, int64_t count) : out_(out), count_(count) {
    if constexpr (kWider) {
      wide_.emplace(count);
      data_ = wide_->begin();
    } else {
      data_ = out;
    }
  }
  Sum<T>& operator[](int64_t i) { return data_[i]; }
  void clear() { std::memset(data_, 0, static_cast<size_t>(count_) * sizeof(Sum<T>)); }
  void load() {
    if constexpr (kWider) {
      for (int64_t i = 0; i < count_; ++i) data_[i] = static_cast<Sum<T>>(out_[i]);
    }
  }
  void store() {
    if constexpr (kWider) {
      for (int64_t i = 0; i < count_; ++i) out_[i] = static_cast<T>(data_[i]);
    }
  }

 private:
  static constexpr bool kWider = !std::is_same_v<T, Sum<T>>;
  T* out_;
  int64_t count_;
  Sum<T>* data_;
  std::optional<Scratch<Sum<T>>> wide_;
};

// The elements of an input in row-major order, copied where they lie otherwise.
class RowMajor {
 public:
  explicit RowMajor(const TensorImpl& in) : data_(in.as<char>()) {
    if (in.meta.is_contiguous()) return;
    copy_ = TensorImpl::create();
    copy_->meta = in.meta;
    copy_->meta.set_row_major(in.meta.shape);
    copy_->allocate();
    copy_strided(*copy_, in);
    data_ = copy_->as<char>();
  }
  const char* data() const { return data_; }

 private:
  const char* data_;
  IntrusivePtr<TensorImpl> copy_;
};

// The row-major indices of input i.
class RowMajorIndices {
 public:
  RowMajorIndices(const KernelContext& ctx, size_t i, int64_t size, bool from_end, int64_t axis)
      : values_(ctx, i, size, from_end, axis), data_(values_.data()) {
    if (values_.is_row_major()) return;
    const TensorMeta& m = ctx.in(i).meta;
    copy_.emplace(m.size());
    data_ = copy_->begin();
    walk_rows<2>(m.shape, {row_major_strides(m.shape), values_.strides()},
                 [&](const auto& at, int64_t n, const auto& step) {
                   for (int64_t k = 0; k < n; ++k) {
                     (*copy_)[at[0] + k * step[0]] = values_.data()[at[1] + k * step[1]];
                   }
                 });
  }
  int64_t operator[](int64_t i) const { return data_[i]; }

 private:
  IndexValues values_;
  const int64_t* data_;
  std::optional<Scratch<int64_t>> copy_;
};

// Sizes of the axes before and after `axis`, joined.
struct Around {
  int64_t before = 1, after = 1;
  Around(const Shape& shape, int64_t axis) {
    for (int64_t i = 0; i < axis; ++i) before *= shape[i];
    for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) after *= shape[i];
  }
};

// Elements of index and one more array at the same place; the third is a line along the axis.
template <typename F>
void walk_lines(const TensorMeta& flat, const IndexValues& index, const TensorMeta& lines,
                int64_t axis, F&& f) {
  Dims line_starts = lines.strides;
  line_starts[axis] = 0;
  const int64_t step_in_line = lines.strides[axis];
  walk_rows<3>(flat.shape, {flat.strides, index.strides(), line_starts},
               [&](const auto& at, int64_t n, const auto& step) {
                 for (int64_t k = 0; k < n; ++k) {
                   const int64_t i = index.data()[at[1] + k * step[1]];
                   f(at[0] + k * step[0], at[2] + k * step[2] + i * step_in_line);
                 }
               });
}

template <typename F>
void visit_number(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto zero) {
    if constexpr (!std::is_same_v<decltype(zero), bool>) f(zero);
  });
}

constexpr double kCopyNsPerByte = 0.05;
constexpr double kRowNs = 8;
constexpr int64_t kColumns = 256;  // of a tile of take_gradient

}  // namespace

void reference_take(const KernelContext& ctx) {
  const TakeAttrs& a = ctx.attrs<TakeAttrs>();
  const TensorMeta& x = ctx.in(0).meta;
  const int64_t size = x.shape[a.axis], count = ctx.in(1).meta.size();
  const RowMajorIndices indices(ctx, 1, size, a.from_end, a.axis);
  const RowMajor rows(ctx.in(0));
  const Around around(x.shape, a.axis);
  const size_t bytes = static_cast<size_t>(around.after) * item_size(x.dtype);
  char* out = ctx.out().as<char>();
  const double row_ns = kRowNs + kCopyNsPerByte * static_cast<double>(bytes);
  parallel_ranges(around.before * count, 64, row_ns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / count * size + indices[i % count];
      std::memcpy(out + static_cast<size_t>(i) * bytes,
                  rows.data() + static_cast<size_t>(row) * bytes, bytes);
    }
  });
}

void reference_take_gradient(const KernelContext& ctx) {
  const TakeAttrs& a = ctx.attrs<TakeAttrs>();
  const int64_t count = ctx.in(1).meta.size();
  const RowMajorIndices indices(ctx, 1, a.size, a.from_end, a.axis);
  const RowMajor g(ctx.in(0));
  const Around around(ctx.out().meta.shape, a.axis);
  const int64_t tiles = (around.after + kColumns - 1) / kColumns;
  const double tile_ns = static_cast<double>(count) * (kRowNs + 0.3 * kColumns);
  visit_number(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* from = reinterpret_cast<const T*>(g.data());
    Sums<T> sums(ctx.out().as<T>(), ctx.out().meta.size());
    sums.clear();
    // A tile is a block of columns: it meets the repeated indices in their order.
    parallel_tiles(around.before * tiles, tile_ns, [&](int64_t tile) {
      const int64_t block = tile / tiles, first = tile % tiles * kColumns;
      const int64_t end = std::min(around.after, first + kColumns);
      for (int64_t i = 0; i < count; ++i) {
        const T* row = from + (block * count + i) * around.after;
        const int64_t to = (block * a.size + indices[i]) * around.after;
        for (int64_t k = first; k < end; ++k) add_to(sums[to + k], row[k]);
      }
    });
    sums.store();
  });
}

void reference_gather(const KernelContext& ctx) {
  const TakeAttrs& a = ctx.attrs<TakeAttrs>();
  const TensorMeta& x = ctx.in(0).meta;
  const IndexValues index(ctx, 1, x.shape[a.axis], a.from_end, a.axis);
  visit_dtype(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* from = ctx.in(0).as<T>();
    T* out = ctx.out().as<T>();
    walk_lines(ctx.out().meta, index, x, a.axis, [&](int64_t o, int64_t i) { out[o] = from[i]; });
  });
}

void reference_scatter_add(const KernelContext& ctx) {
  const TakeAttrs& a = ctx.attrs<TakeAttrs>();
  const TensorMeta& out = ctx.out().meta;
  const IndexValues index(ctx, 1, out.shape[a.axis], a.from_end, a.axis);
  visit_number(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* src = ctx.in(0).as<T>();
    Sums<T> sums(ctx.out().as<T>(), out.size());
    if (ctx.has(2)) {
      copy_strided(ctx.out(), ctx.in(2));
      sums.load();
    } else {
      sums.clear();
    }
    walk_lines(ctx.in(0).meta, index, out, a.axis,
               [&](int64_t from, int64_t to) { add_to(sums[to], src[from]); });
    sums.store();
  });
}

void reference_one_hot(const KernelContext& ctx) {
  const TensorMeta& out = ctx.out().meta;
  const int64_t classes = out.shape.back();
  const RowMajorIndices indices(ctx, 0, classes, false, static_cast<int64_t>(out.shape.size()) - 1);
  std::memset(ctx.out().data, 0, static_cast<size_t>(out.size()) * item_size(out.dtype));
  visit_dtype(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < ctx.in(0).meta.size(); ++i) {
      if constexpr (std::is_arithmetic_v<T>)
        ctx.out().as<T>()[i * classes + indices[i]] = T(1);
      else
        ctx.out().as<T>()[i * classes + indices[i]] = T(1.0f);
    }
  });
}

}  // namespace thalweg
