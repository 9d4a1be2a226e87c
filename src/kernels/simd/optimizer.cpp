#include "kernels/simd/optimizer.h"

#include <algorithm>
#include <cmath>

#include <thalweg/base/threads.h>

#include "device/scratch.h"
#include "kernels/simd/update_range.h"
#include "ops/compose.h"

namespace thalweg::simd {
namespace {

UpdateTable g_updates;

// Tensors are cut into tiles of so many elements, each of one tensor.
constexpr int64_t kTileElements = 16384;

int64_t tiles_of(int64_t elements) { return (elements + kTileElements - 1) / kTileElements; }

// Calls tile(tensor, first, n, number) for tiles that cover all elements; tensor i has count(i).
template <typename Count, typename Tile>
void for_each_tile(size_t tensors, double element_ns, Count&& count, Tile&& tile) {
  int64_t tiles = 0, elements = 0;
  for (size_t i = 0; i < tensors; ++i) {
    tiles += tiles_of(count(i));
    elements += count(i);
  }
  const double mean =
      static_cast<double>(elements) / static_cast<double>(std::max<int64_t>(tiles, 1));
  parallel_tiles(tiles, element_ns * mean, [&](int64_t number) {
    int64_t rest = number;
    size_t i = 0;
    for (; rest >= tiles_of(count(i)); ++i) rest -= tiles_of(count(i));
    const int64_t first = rest * kTileElements;
    tile(i, first, std::min(kTileElements, count(i) - first), number);
  });
}

const void* offset(const TensorImpl& t, int64_t first) {
  return t.as<const char>() + first * static_cast<int64_t>(item_size(t.meta.dtype));
}
void* offset(TensorImpl& t, int64_t first) {
  return t.as<char>() + first * static_cast<int64_t>(item_size(t.meta.dtype));
}

// `by_dtype` are the loops of the rule.
template <typename Attrs, typename Numbers>
void run_update(const KernelContext& ctx, const UpdateFn* by_dtype) {
  const UpdateArguments<Attrs, Numbers> args(ctx);
  const auto states = static_cast<size_t>(args.attrs().states());
  const double ns = 0.4 * static_cast<double>(2 + states);
  const auto count = [&](size_t i) { return args.weight(i).count; };
  for_each_tile(args.tensors(), ns, count, [&](size_t i, int64_t first, int64_t n, int64_t) {
    UpdateRange range{&args.numbers(i),
                      offset(args.weight(i), first),
                      offset(args.gradient(i), first),
                      {},
                      offset(args.new_weight(i), first),
                      {},
                      n};
    for (size_t s = 0; s < states; ++s) {
      range.state[s] = offset(args.state(s, i), first);
      range.new_state[s] = offset(args.new_state(s, i), first);
    }
    by_dtype[static_cast<int>(args.weight(i).meta.dtype)](range);
  });
}

void run_sgd(const KernelContext& ctx) {
  run_update<SgdAttrs, SgdNumbers>(ctx, g_updates.sgd[ctx.attrs<SgdAttrs>().momentum]);
}

void run_adam(const KernelContext& ctx) { run_update<AdamAttrs, AdamNumbers>(ctx, g_updates.adam); }

void run_rmsprop(const KernelContext& ctx) {
  const RmsPropAttrs& attrs = ctx.attrs<RmsPropAttrs>();
  run_update<RmsPropAttrs, RmsPropNumbers>(ctx, g_updates.rmsprop[attrs.centered][attrs.momentum]);
}

void run_adagrad(const KernelContext& ctx) {
  run_update<AdaGradAttrs, AdaGradNumbers>(ctx, g_updates.adagrad);
}

// The tiles' sums join in order.
void run_global_norm(const KernelContext& ctx) {
  const auto count = [&](size_t i) { return ctx.in(i).count; };
  int64_t tiles = 0;
  for (size_t i = 0; i < ctx.inputs(); ++i) tiles += tiles_of(count(i));
  Scratch<double> sums(tiles);
  std::fill_n(sums.data(), tiles, 0.0);
  for_each_tile(ctx.inputs(), 0.2, count, [&](size_t i, int64_t first, int64_t n, int64_t number) {
    const TensorImpl& t = ctx.in(i);
    folds().squares[static_cast<int>(t.meta.dtype)].runs(static_cast<const char*>(offset(t, first)),
                                                         0, 1, n, sums.data() + number);
  });
  double total = 0;
  for (int64_t i = 0; i < tiles; ++i) total += sums.data()[i];
  *ctx.out().as<double>() = std::sqrt(total);
}

}  // namespace

void choose_optimizer_target() { fill_updates(g_updates); }

void register_optimizers() {
  const auto add = [](const char* name, void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cpu, {"simd", nullptr, run});
  };
  add("sgd_update", run_sgd);
  add("adam_update", run_adam);
  add("rmsprop_update", run_rmsprop);
  add("adagrad_update", run_adagrad);
  add("global_norm", run_global_norm);
}

}  // namespace thalweg::simd
