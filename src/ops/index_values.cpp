#include "ops/index_values.h"

#include "base/fail.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

bool all_within(const int64_t* values, int64_t count, int64_t size) {
  bool good = true;
  for (int64_t i = 0; i < count; ++i) {
    good &= static_cast<uint64_t>(values[i]) < static_cast<uint64_t>(size);
  }
  return good;
}

[[noreturn, gnu::cold]] void fail_out_of_range(const KernelContext& ctx, const TensorMeta& index,
                                               int64_t row_major_position, int64_t value,
                                               int64_t size, bool from_end, int64_t axis) {
  Dims position(index.shape.size(), 0);
  for (size_t i = index.shape.size(); i-- > 0;) {
    position[i] = row_major_position % index.shape[i];
    row_major_position /= index.shape[i];
  }
  fail_invalid(
      "{}: index {} is out of range; it is at {} of the indices of shape {}; axis {} of "
      "size {} takes {} to {}",
      ctx.op().name, value, to_string(position), to_string(index.shape), axis, size,
      from_end ? -size : 0, size - 1);
}

}  // namespace

void require_index(const InferContext& ctx, size_t i) {
  const TensorMeta& m = ctx.in(i);
  if (is_integer(m.dtype)) return;
  fail_invalid(
      "{}: {} indices of shape {}; indices are integers; {}", ctx.op().name, name(m.dtype),
      to_string(m.shape),
      m.dtype == DType::boolean ? "use masked_select() for a mask" : "convert with to(DType::i64)");
}

IndexValues::IndexValues(const KernelContext& ctx, size_t i, int64_t size, bool from_end,
                         int64_t axis) {
  const TensorImpl& index = ctx.in(i);
  const int64_t count = index.meta.size();
  if (index.meta.dtype == DType::i64 && index.meta.is_dense() &&
      all_within(index.as<int64_t>(), count, size)) {
    data_ = index.as<int64_t>();
    strides_ = index.meta.strides;
    row_major_ = index.meta.is_contiguous();
    return;
  }
  copy_.emplace(count);
  int64_t* to = copy_->begin();
  data_ = to;
  strides_ = row_major_strides(index.meta.shape);
  TensorMeta row_major = index.meta;
  row_major.strides = strides_;
  visit_dtype(index.meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      const T* from = index.as<T>();
      for_each_row(row_major, index.meta, [&](int64_t o, int64_t k, int64_t n, int64_t, int64_t s) {
        for (int64_t j = 0; j < n; ++j) {
          const int64_t value = static_cast<int64_t>(from[k + j * s]);
          const int64_t wrapped = value < 0 && from_end ? value + size : value;
          if (wrapped < 0 || wrapped >= size) {
            fail_out_of_range(ctx, index.meta, o + j, value, size, from_end, axis);
          }
          to[o + j] = wrapped;
        }
      });
    }
  });
}

}  // namespace thalweg
