// scatter_add to zeros, as the gradient of max pooling wants it: an index for each element of some
// lines, and lines of few elements side by side.

#include <cstring>

#include <thalweg/base/threads.h>

#include "kernels/cpu.h"
#include "ops/compose.h"
#include "ops/index_reference.h"

namespace thalweg {
namespace {

constexpr double kElementNs = 1.2;  // of src
constexpr double kZeroNs = 0.05;    // of the result
constexpr double kTileNs = 20000;

/// src and index [outer, lines, count]; out [outer, lines, size], all with the strides of one order
/// of axes.
struct Scatter {
  int64_t outer, lines, count, size;
  int64_t outer_in, line_in, step_in;  // strides, in elements
  int64_t outer_out, line_out, step_out;
};

bool scatters(const KernelContext& ctx, Scatter& s) {
  const TensorMeta &src = ctx.in(0).meta, &index = ctx.in(1).meta, &out = ctx.out().meta;
  if (ctx.has(2) || src.shape.size() != 3 || ctx.attrs<TakeAttrs>().axis != 2) return false;
  if (index.dtype != DType::i64 || src.strides != index.strides) return false;
  s = {src.shape[0],   src.shape[1],   src.shape[2],   out.shape[2],   src.strides[0],
       src.strides[1], src.strides[2], out.strides[0], out.strides[1], out.strides[2]};
  // Each part of the result lies in a block of its own.
  return out.is_dense() && s.outer_out == s.lines * s.size;
}

const char* refuse(const KernelContext& ctx) {
  const DType dtype = ctx.in(0).meta.dtype;
  if (dtype != DType::f32 && dtype != DType::f64) return "the elements are neither f32 nor f64";
  Scatter s;
  return scatters(ctx, s) ? nullptr : "it scatters the last of three axes to zeros";
}

bool indices_fit(const KernelContext& ctx, const Scatter& s) {
  const int64_t* index = ctx.in(1).as<const int64_t>();
  const uint64_t size = static_cast<uint64_t>(s.size);
  bool fit = true;
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t k = 0; k < s.count; ++k) {
      const int64_t* at = index + o * s.outer_in + k * s.step_in;
      for (int64_t l = 0; l < s.lines; ++l) fit &= static_cast<uint64_t>(at[l * s.line_in]) < size;
    }
  }
  return fit;
}

template <typename T>
void scatter(const KernelContext& ctx, const Scatter& s) {
  const T* src = ctx.in(0).as<const T>();
  const int64_t* index = ctx.in(1).as<const int64_t>();
  T* out = ctx.out().as<T>();
  const int64_t block = s.lines * s.size;
  const double part_ns =
      kElementNs * static_cast<double>(s.lines * s.count) + kZeroNs * static_cast<double>(block);
  const int64_t grain = static_cast<int64_t>(kTileNs / (part_ns + 1)) + 1;
  parallel_ranges(s.outer, grain, part_ns, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      T* to = out + o * s.outer_out;
      std::memset(to, 0, static_cast<size_t>(block) * sizeof(T));
      for (int64_t k = 0; k < s.count; ++k) {
        const int64_t at = o * s.outer_in + k * s.step_in;
        for (int64_t l = 0; l < s.lines; ++l) {
          const int64_t i = at + l * s.line_in;
          to[l * s.line_out + index[i] * s.step_out] += src[i];
        }
      }
    }
  });
}

// Whatever the index, the reference says what is wrong with it, or counts it from the end.
void run(const KernelContext& ctx) {
  Scatter s;
  scatters(ctx, s);
  if (!indices_fit(ctx, s)) return reference_scatter_add(ctx);
  ctx.in(0).meta.dtype == DType::f32 ? scatter<float>(ctx, s) : scatter<double>(ctx, s);
}

}  // namespace

void register_index_kernels() {
  add_kernel("scatter_add", DeviceKind::cpu, {"lines", refuse, run});
}

}  // namespace thalweg
