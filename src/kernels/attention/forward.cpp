#include <limits>

#include <thalweg/base/threads.h>

#include "kernels/attention/rows.h"
#include "kernels/attention/tile.h"

namespace thalweg::tiled {
namespace {

struct Forward {
  AttentionSizes n;
  float scale;
  Heads q, v, out;
  Transposed keys;
  TileMask mask;
  float* log_sums;

  explicit Forward(const KernelContext& ctx)
      : n(ctx.in(0).meta, ctx.in(1).meta, ctx.in(2).meta, ctx.attrs<AttentionAttrs>().causal),
        scale(static_cast<float>(ctx.attrs<AttentionAttrs>().scale)),
        q(ctx.in(0)),
        v(ctx.in(2)),
        out(ctx.out(0)),
        keys(ctx.in(1)),
        mask(ctx.has(3) ? &ctx.in(3) : nullptr),
        log_sums(ctx.out(1).as<float>()) {}

  void run_tile(int64_t b, int64_t h, int64_t first) const {
    const int64_t rows = std::min(kQueries, n.queries - first);
    const int64_t end = n.visible(first + rows - 1);
    alignas(64) float scores[kQueries * kKeys];
    RowState states[kQueries];
    std::fill_n(states, rows, RowState{-std::numeric_limits<float>::infinity(), 0});
    for (int64_t key = 0; key < end; key += kKeys) {
      add_keys(b, h, first, rows, key, std::min(kKeys, end - key), scores, states);
    }
    finish(states, rows, out.rows(b, h, first, n.value_size),
           log_sums + (b * n.heads + h) * n.queries + first);
  }

  void add_keys(int64_t b, int64_t h, int64_t first, int64_t rows, int64_t key, int64_t count,
                float* scores, RowState* states) const {
    const auto m = static_cast<int32_t>(rows), c = static_cast<int32_t>(count);
    const int64_t kv = n.kv_head(h);
    constexpr auto kLd = static_cast<int32_t>(kKeys);
    multiply({m, c, static_cast<int32_t>(n.size), q.ld, keys.ld(), kLd, false, false},
             q.at(b, h, first), keys.at(b, kv) + key, scores);
    const TileRows tile = tile_rows(n, first, rows, key, count);
    for (int64_t i = 0; mask && i < rows; ++i)
      mask.apply(b, h, first + i, key, tile.seen[i], scale, scores + i * kKeys);
    soften(scores, tile, mask ? 1 : scale, states, out.rows(b, h, first, n.value_size));
    multiply({m, static_cast<int32_t>(n.value_size), c, kLd, v.ld, out.ld, false, key > 0}, scores,
             v.at(b, kv, key), out.at(b, h, first));
  }
};

}  // namespace

void forward(const KernelContext& ctx) {
  const Forward f(ctx);
  const int64_t tiles = (f.n.queries + kQueries - 1) / kQueries;
  const auto work = static_cast<double>(2 * kQueries * f.n.keys * (f.n.size + f.n.value_size));
  parallel_tiles(f.n.batch * f.n.heads * tiles, work / kFlopsPerNs, [&](int64_t i) {
    const int64_t head = i / tiles;
    f.run_tile(head / f.n.heads, head % f.n.heads, i % tiles * kQueries);
  });
}

}  // namespace thalweg::tiled
