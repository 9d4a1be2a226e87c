#include "kernels/simd/dropout.h"

#include <thalweg/base/threads.h>

#include "ops/compose.h"
#include "ops/random.h"

namespace thalweg {
namespace {

constexpr int64_t kTileBlocks = 4096;
constexpr double kBlockNs = 3;

simd::DropoutTable& table() {
  static simd::DropoutTable instance;
  return instance;
}

const char* refuse(const KernelContext& ctx) {
  if (ctx.in(0).meta.dtype == DType::f64) return "the elements are f64";
  // Elements draw by their row-major position.
  if (!ctx.in(0).meta.is_contiguous() || !ctx.out().meta.is_contiguous()) {
    return "the elements are not row-major";
  }
  if (ctx.attrs<DropoutAttrs>().probability > 0.999) return "nearly everything is dropped";
  return nullptr;
}

void run(const KernelContext& ctx) {
  const DropoutAttrs& a = ctx.attrs<DropoutAttrs>();
  const DType dtype = ctx.in(0).meta.dtype;
  const simd::DropoutRowFn fn = table().rows[static_cast<int>(dtype)];
  const int64_t count = ctx.out().meta.size();
  const uint32_t dropped = static_cast<uint32_t>(probability_threshold(a.probability));
  const float scale = static_cast<float>(1 / (1 - a.probability));
  const size_t bytes = item_size(dtype);
  parallel_ranges((count + 3) / 4, kTileBlocks, kBlockNs, [&](int64_t begin, int64_t end) {
    const size_t skip = static_cast<size_t>(4 * begin) * bytes;
    fn({ctx.in(0).as<const char>() + skip, ctx.out().as<char>() + skip,
        std::min(count, 4 * end) - 4 * begin, a.seed, a.offset + static_cast<uint64_t>(begin),
        dropped, scale});
  });
}

}  // namespace

void simd::choose_dropout_target() { fill_dropout(table()); }

void simd::register_dropout() { add_kernel("dropout", DeviceKind::cpu, {"simd", refuse, run}); }

}  // namespace thalweg
