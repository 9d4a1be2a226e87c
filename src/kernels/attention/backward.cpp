#include <thalweg/base/threads.h>

#include "kernels/attention/rows.h"
#include "kernels/attention/tile.h"

namespace thalweg::tiled {
namespace {

// All that reaches one head of keys and values is summed by one thread, query tile by query tile:
// the last tile, which sees all keys that any does, comes first and begins the sums.
struct Backward {
  AttentionSizes n;
  float scale;
  Heads g, q, k, v, out, dq, dk, dv;
  Transposed keys, values;
  TileMask mask;
  const float* log_sums;

  explicit Backward(const KernelContext& ctx)
      : n(ctx.in(1).meta, ctx.in(2).meta, ctx.in(3).meta, ctx.attrs<AttentionAttrs>().causal),
        scale(static_cast<float>(ctx.attrs<AttentionAttrs>().scale)),
        g(ctx.in(0)),
        q(ctx.in(1)),
        k(ctx.in(2)),
        v(ctx.in(3)),
        out(ctx.in(4)),
        dq(ctx.out(0)),
        dk(ctx.out(1)),
        dv(ctx.out(2)),
        keys(ctx.in(2)),
        values(ctx.in(3)),
        mask(ctx.has(6) ? &ctx.in(6) : nullptr),
        log_sums(ctx.in(5).as<float>()) {}

  void run_head(int64_t b, int64_t kv) const {
    const int64_t group = n.heads / n.kv_heads, end = n.visible(n.queries - 1);
    clear(dk, b, kv, end, n.keys - end, n.size);
    clear(dv, b, kv, end, n.keys - end, n.value_size);
    const int64_t last = (n.queries - 1) / kQueries * kQueries;
    for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
      for (int64_t first = last; first >= 0; first -= kQueries)
        run_tile(b, h, kv, first, h > kv * group || first < last);
    }
  }

  static void clear(const Heads& x, int64_t b, int64_t h, int64_t first, int64_t rows,
                    int64_t size) {
    for (int64_t t = 0; t < rows; ++t) std::fill_n(x.at(b, h, first + t), size, 0.0f);
  }

  void run_tile(int64_t b, int64_t h, int64_t kv, int64_t first, bool adds) const {
    const int64_t rows = std::min(kQueries, n.queries - first);
    const int64_t end = n.visible(first + rows - 1);
    if (end == 0) return clear(dq, b, h, first, rows, n.size);
    float totals[kQueries];
    dots(g.rows(b, h, first, n.value_size), out.rows(b, h, first, n.value_size), rows, totals);
    for (int64_t key = 0; key < end; key += kKeys) {
      run_keys(b, h, kv, first, rows, key, std::min(kKeys, end - key), adds, totals);
    }
  }

  void run_keys(int64_t b, int64_t h, int64_t kv, int64_t first, int64_t rows, int64_t key,
                int64_t count, bool adds, const float* totals) const {
    alignas(64) float p[kQueries * kKeys], ds[kQueries * kKeys];
    const auto m = static_cast<int32_t>(rows), c = static_cast<int32_t>(count);
    const auto size = static_cast<int32_t>(n.size), value = static_cast<int32_t>(n.value_size);
    constexpr auto kLd = static_cast<int32_t>(kKeys);
    const float *query = q.at(b, h, first), *grad = g.at(b, h, first);
    multiply({m, c, size, q.ld, keys.ld(), kLd, false, false}, query, keys.at(b, kv) + key, p);
    multiply({m, c, value, g.ld, values.ld(), kLd, false, false}, grad, values.at(b, kv) + key, ds);
    const float* log_sum = log_sums + (b * n.heads + h) * n.queries + first;
    const TileRows tile = tile_rows(n, first, rows, key, count);
    for (int64_t i = 0; mask && i < rows; ++i)
      mask.apply(b, h, first + i, key, tile.seen[i], scale, p + i * kKeys);
    soften_gradient(p, ds, tile, {mask ? 1 : scale, scale, log_sum, totals});
    multiply({c, value, m, kLd, g.ld, dv.ld, true, adds}, p, grad, dv.at(b, kv, key));
    multiply({c, size, m, kLd, q.ld, dk.ld, true, adds}, ds, query, dk.at(b, kv, key));
    multiply({m, size, c, kLd, k.ld, dq.ld, false, key > 0}, ds, k.at(b, kv, key),
             dq.at(b, h, first));
  }
};

}  // namespace

void backward(const KernelContext& ctx) {
  const Backward f(ctx);
  const auto work = static_cast<double>(f.n.heads / f.n.kv_heads * f.n.queries * f.n.keys *
                                        (6 * f.n.size + 4 * f.n.value_size));
  parallel_tiles(f.n.batch * f.n.kv_heads, work / kFlopsPerNs,
                 [&](int64_t i) { f.run_head(i / f.n.kv_heads, i % f.n.kv_heads); });
}

}  // namespace thalweg::tiled
