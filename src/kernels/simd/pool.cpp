#include "kernels/simd/pool.h"

#include <algorithm>
#include <limits>

#include <thalweg/base/threads.h>

#include "kernels/simd/pool_windows.h"
#include "ops/compose.h"
#include "ops/layout.h"
#include "ops/reference.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

constexpr double kElementNs = 0.3;      // of one channel of one element of a window
constexpr double kTileElements = 8192;  // of the windows in one tile

simd::PoolTable& table() {
  static simd::PoolTable instance;
  return instance;
}

const char* refuse(const KernelContext& ctx) {
  if (!is_floating(ctx.in(0).meta.dtype)) return "the elements are integers";
  const PoolProblem p = pool_problem(ctx);
  if (p.in[0] * p.in[1] * p.in[2] > std::numeric_limits<int32_t>::max()) {
    return "the indices do not fit in 32 bits";
  }
  return nullptr;
}

// The elements of x in window o.
simd::PoolSpan window(const PoolProblem& p, int axis, int64_t o) {
  const int64_t start = o * p.stride[axis] - p.padding[axis];
  return {std::max<int64_t>(start, 0), std::min(start + p.kernel[axis], p.in[axis])};
}

// The windows that element i of x is in.
simd::PoolSpan windows_of(const PoolProblem& p, int axis, int64_t i) {
  const int64_t at = i + p.padding[axis];
  const int64_t first = at < p.kernel[axis] ? 0 : (at - p.kernel[axis]) / p.stride[axis] + 1;
  return {first, std::min(at / p.stride[axis] + 1, p.out[axis])};
}

// The elements of window o, with or without padding.
int64_t counted(const PoolProblem& p, int axis, int64_t o, bool include_padding) {
  const simd::PoolSpan span = window(p, axis, o);
  if (!include_padding) return span.end - span.first;
  const int64_t start = o * p.stride[axis] - p.padding[axis];
  return std::min(start + p.kernel[axis], p.in[axis] + p.padding[axis]) - start;
}

enum class Direction { forward, gradient };

// Fills in the spans and counts, and runs tiles of rows of about equal work.
void run_rows(simd::PoolRowsFn fn, simd::PoolRows all, Direction direction, bool include_padding) {
  const PoolProblem& p = all.problem;
  const auto& sizes = direction == Direction::forward ? p.out : p.in;
  Scratch<simd::PoolSpan> spans(sizes[0] + sizes[1] + sizes[2]);
  Scratch<int64_t> counts(p.out[0] + p.out[1] + p.out[2]);
  simd::PoolSpan* span = spans.begin();
  int64_t* count = counts.begin();
  for (int axis = 0; axis < 3; ++axis) {
    all.spans[axis] = span;
    all.counts[axis] = count;
    for (int64_t i = 0; i < sizes[axis]; ++i) {
      *span++ = direction == Direction::forward ? window(p, axis, i) : windows_of(p, axis, i);
    }
    for (int64_t o = 0; o < p.out[axis]; ++o) *count++ = counted(p, axis, o, include_padding);
  }
  const double row_elements =
      static_cast<double>(sizes[2] * p.channels * p.kernel[0] * p.kernel[1] * p.kernel[2]);
  const int64_t grain = static_cast<int64_t>(kTileElements / (row_elements + 1)) + 1;
  parallel_ranges(p.batch * sizes[0] * sizes[1], grain, row_elements * kElementNs,
                  [&](int64_t begin, int64_t end) {
                    simd::PoolRows rows = all;
                    rows.begin = begin;
                    rows.end = end;
                    fn(rows);
                  });
}

// The input with its channels side by side, as the output's are; a copy where they are not.
class ChannelsLast {
 public:
  /// `strides` are the input's in a problem, and become those of what data() points to.
  ChannelsLast(const TensorImpl& in, SpatialStrides& strides) : data_(in.data) {
    if (in.meta.shape[1] == 1 || strides.channel == 1) return;
    copy_ = TensorImpl::create();
    copy_->meta = in.meta;
    copy_->meta.offset = 0;
    copy_->meta.strides = channels_last_strides(in.meta.shape);
    copy_->allocate();
    copy_strided(*copy_, in);
    data_ = copy_->data;
    strides = spatial_strides(copy_->meta);
  }
  const void* data() const { return data_; }

 private:
  const void* data_;
  IntrusivePtr<TensorImpl> copy_;
};

void run(const KernelContext& ctx, const simd::PoolRowsFn* by_dtype, Direction direction,
         bool include_padding) {
  PoolProblem p = pool_problem(ctx);
  const ChannelsLast in(ctx.in(0), direction == Direction::forward ? p.x : p.y);
  int64_t* indices = ctx.outputs() == 2 ? ctx.out(1).as<int64_t>() : nullptr;
  run_rows(by_dtype[static_cast<int>(ctx.in(0).meta.dtype)],
           {p, in.data(), ctx.out().data, indices, {}, {}, 0, 0}, direction, include_padding);
}

void run_max(const KernelContext& ctx) { run(ctx, table().max, Direction::forward, false); }

void run_average(const KernelContext& ctx) {
  run(ctx, table().average, Direction::forward, ctx.attrs<AvgPoolAttrs>().count_include_pad);
}

void run_average_gradient(const KernelContext& ctx) {
  run(ctx, table().average_gradient, Direction::gradient,
      ctx.attrs<AvgPoolAttrs>().count_include_pad);
}

}  // namespace

void simd::choose_pool_target() { fill_pool(table()); }

void simd::register_pools() {
  add_kernel("max_pool", DeviceKind::cpu, {"simd", refuse, run_max});
  add_kernel("avg_pool", DeviceKind::cpu, {"simd", refuse, run_average});
  add_kernel("avg_pool_gradient", DeviceKind::cpu, {"simd", refuse, run_average_gradient});
}

}  // namespace thalweg
