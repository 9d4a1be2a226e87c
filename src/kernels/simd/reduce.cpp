#include "kernels/simd/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <thalweg/base/threads.h>

#include "device/scratch.h"
#include "kernels/simd/fold.h"
#include "kernels/simd/reduction_plan.h"
#include "ops/compose.h"
#include "ops/reduce.h"

namespace thalweg::simd {
namespace {

FoldTable g_folds;

// Tiles hold about so many elements, and longer folds are cut into pieces of so many, whose results
// join in order: so the result does not depend on the number of threads.
constexpr int64_t kTileElements = 32768;
constexpr int64_t kColumns = 1024;  // of a tile
constexpr int64_t kResults = 256;   // kept on the stack at a time
constexpr double kElementNs = 0.15;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What becomes of a fold: f64 to the output's dtype.
struct Finish {
  enum Kind { plain, mean, root } kind;
  double count;  // of folded elements

  double operator()(double x) const {
    return kind == mean ? x / count : kind == root ? std::sqrt(x) : x;
  }
};

class Reduction {
 public:
  Reduction(const KernelContext& ctx, const FoldFns& fns, Finish finish)
      : ctx_(ctx),
        fns_(fns),
        finish_(finish),
        plan_(plan_reduction(ctx.in(0), ctx.attrs<ReduceAttrs>().axes)),
        in_(ctx.in(0).as<const char>()),
        folds_(axes_count(plan_.folded)),
        results_(axes_count(plan_.kept)) {}

  void run() const {
    if (ctx_.out().meta.size() == 0) return;
    if (ctx_.in(0).meta.size() == 0) return store_all(fns_.init);
    if (plan_.inner_is_kept) return fold_columns();
    const int64_t per_result = folds_ * plan_.inner.size;
    if (per_result > 2 * kTileElements)
      fold_long_runs();
    else
      fold_runs(std::max<int64_t>(1, kTileElements / per_result));
  }

 private:
  void store_all(double value) const {
    for (int64_t i = 0; i < ctx_.out().meta.size(); ++i) store(&value, i, 1, 0);
  }

  // Writes n results to out[at], out[at + stride], ...
  void store(const double* results, int64_t at, int64_t n, int64_t stride) const {
    visit_dtype(ctx_.out().meta.dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_floating_point_v<ComputeType<T>>) {
        T* out = ctx_.out().as<T>() + at;
        for (int64_t i = 0; i < n; ++i) out[i * stride] = static_cast<T>(finish_(results[i]));
      }
    });
  }

  // --- the innermost axis is folded ---

  // Results that take little work each.
  void fold_runs(int64_t grain) const {
    const double ns = kElementNs * static_cast<double>(folds_ * plan_.inner.size) + 8;
    parallel_ranges(results_, grain, ns, [&](int64_t begin, int64_t end) {
      AxesWalk kept(plan_.kept, begin);
      const bool in_rows = plan_.folded.empty() && plan_.kept.size() == 1;
      double results[kResults];
      for (int64_t first = begin; first < end; first += kResults) {
        const int64_t n = std::min(kResults, end - first);
        std::fill_n(results, n, fns_.init);
        if (in_rows) {
          const ReductionAxis& rows = plan_.kept[0];
          fns_.runs(in_ + first * rows.in_stride, rows.in_stride, n, plan_.inner.size, results);
          store(results, first * rows.out_stride, n, rows.out_stride);
          continue;
        }
        for (int64_t i = 0; i < n; ++i, kept.next()) {
          fold_pieces(kept.in(), 0, folds_, results + i);
          store(results + i, kept.out(), 1, 0);
        }
      }
    });
  }

  // Runs `begin` to `end` of the result whose elements start at byte `at`.
  void fold_pieces(int64_t at, int64_t begin, int64_t end, double* result) const {
    AxesWalk folded(plan_.folded, begin);
    for (int64_t i = begin; i < end; ++i, folded.next()) {
      fns_.runs(in_ + at + folded.in(), 0, 1, plan_.inner.size, result);
    }
  }

  // Each result's elements are cut into pieces: a long run, or groups of shorter ones.
  void fold_long_runs() const {
    const int64_t n = plan_.inner.size;
    const bool cuts_runs = n > kTileElements;
    const int64_t group = std::max<int64_t>(1, kTileElements / n);
    const int64_t per_run = cuts_runs ? ceil_div(n, kTileElements) : 1;
    const int64_t pieces = cuts_runs ? folds_ * per_run : ceil_div(folds_, group);
    Scratch<double> partial(results_ * pieces);
    std::fill_n(partial.data(), results_ * pieces, fns_.init);
    const int64_t item = static_cast<int64_t>(item_size(ctx_.in(0).meta.dtype));
    parallel_tiles(results_ * pieces, kElementNs * kTileElements, [&](int64_t tile) {
      const int64_t at = AxesWalk(plan_.kept, tile / pieces).in();
      const int64_t piece = tile % pieces;
      if (!cuts_runs) {
        return fold_pieces(at, piece * group, std::min(folds_, (piece + 1) * group),
                           partial.data() + tile);
      }
      const int64_t begin = piece % per_run * kTileElements;
      const char* run = in_ + at + AxesWalk(plan_.folded, piece / per_run).in();
      fns_.runs(run + begin * item, 0, 1, std::min(kTileElements, n - begin),
                partial.data() + tile);
    });
    AxesWalk kept(plan_.kept, 0);
    for (int64_t r = 0; r < results_; ++r, kept.next()) {
      double total = fns_.init;
      join(partial.data() + r * pieces, pieces, &total);
      store(&total, kept.out(), 1, 0);
    }
  }

  void join(const double* values, int64_t n, double* total) const {
    for (int64_t i = 0; i < n; ++i) *total = fns_.join(*total, values[i]);
  }

  // --- the innermost axis is kept ---

  void fold_columns() const {
    const int64_t cols = plan_.inner.size;
    const int64_t width = std::min(cols, kColumns);
    const int64_t blocks = ceil_div(cols, width);
    const int64_t group = std::max<int64_t>(1, 2 * kTileElements / width);
    const int64_t pieces = ceil_div(folds_, group);
    if (pieces == 1) {
      const double ns = kElementNs * static_cast<double>(folds_ * width);
      return parallel_tiles(results_ * blocks, ns, [&](int64_t tile) {
        const AxesWalk kept(plan_.kept, tile / blocks);
        const int64_t first = tile % blocks * width, n = std::min(width, cols - first);
        double results[kColumns];
        std::fill_n(results, n, fns_.init);
        fold_rows(kept.in(), first, n, 0, folds_, results);
        store(results, kept.out() + first * plan_.inner.out_stride, n, plan_.inner.out_stride);
      });
    }
    fold_many_rows(width, blocks, group, pieces);
  }

  // The rows are cut into pieces, whose results join in order.
  void fold_many_rows(int64_t width, int64_t blocks, int64_t group, int64_t pieces) const {
    const int64_t cols = plan_.inner.size;
    Scratch<double> partial(results_ * blocks * pieces * width);
    parallel_tiles(results_ * blocks * pieces, kElementNs * kTileElements, [&](int64_t tile) {
      const AxesWalk kept(plan_.kept, tile / (blocks * pieces));
      const int64_t first = tile / pieces % blocks * width, piece = tile % pieces;
      double* results = partial.data() + tile * width;
      std::fill_n(results, width, fns_.init);
      fold_rows(kept.in(), first, std::min(width, cols - first), piece * group,
                std::min(folds_, (piece + 1) * group), results);
    });
    AxesWalk kept(plan_.kept, 0);
    for (int64_t r = 0; r < results_ * blocks; ++r) {
      double* total = partial.data() + r * pieces * width;
      for (int64_t p = 1; p < pieces; ++p) {
        for (int64_t j = 0; j < width; ++j) {
          total[j] = fns_.join(total[j], total[p * width + j]);
        }
      }
      const int64_t first = r % blocks * width, n = std::min(width, cols - first);
      store(total, kept.out() + first * plan_.inner.out_stride, n, plan_.inner.out_stride);
      if (r % blocks == blocks - 1) kept.next();
    }
  }

  // Rows `begin` to `end` of the folded axes, columns from `first`.
  void fold_rows(int64_t at, int64_t first, int64_t n, int64_t begin, int64_t end,
                 double* results) const {
    const char* p = in_ + at + first * plan_.inner.in_stride;
    if (plan_.folded.empty()) return fns_.columns(p, 0, 1, n, results);
    const ReductionAxis& rows = plan_.folded.back();
    while (begin < end) {
      const int64_t count = std::min(end - begin, rows.size - begin % rows.size);
      fns_.columns(p + AxesWalk(plan_.folded, begin).in(), rows.in_stride, count, n, results);
      begin += count;
    }
  }

  const KernelContext& ctx_;
  const FoldFns& fns_;
  const Finish finish_;
  const ReductionPlan plan_;
  const char* const in_;
  const int64_t folds_;    // runs or rows that fold into one result
  const int64_t results_;  // or rows of results
};

// --- kernels ---

double folded_elements(const KernelContext& ctx) {
  return static_cast<double>(folded_count(ctx.in(0).meta.shape, ctx.attrs<ReduceAttrs>().axes));
}

template <FoldFns (FoldTable::*kFns)[kFloatDTypes], Finish::Kind kFinish>
void run_fold(const KernelContext& ctx) {
  const FoldFns& fns = (g_folds.*kFns)[static_cast<int>(ctx.in(0).meta.dtype)];
  Reduction(ctx, fns, {kFinish, folded_elements(ctx)}).run();
}

const char* refuse_integers(const KernelContext& ctx) {
  return is_floating(ctx.in(0).meta.dtype) ? nullptr : "it takes floating elements";
}

bool folds_neighbours(const KernelContext& ctx) {
  return !plan_reduction(ctx.in(0), ctx.attrs<ReduceAttrs>().axes).inner_is_kept;
}

// --- norm ---

const char* refuse_norm(const KernelContext& ctx) {
  if (ctx.attrs<NormAttrs>().p != 2) return "it takes the 2-norm";
  if (ctx.in(0).meta.dtype == DType::f64) return "squares of f64 may overflow";
  if (!folds_neighbours(ctx)) return "the innermost axis in memory must be folded";
  return refuse_integers(ctx);
}

// --- positions ---

// True if the folded axes are nested in memory as they are in the shape.
bool in_memory_order(const KernelContext& ctx) {
  const TensorMeta& in = ctx.in(0).meta;
  int64_t last = std::numeric_limits<int64_t>::max();
  for (int64_t axis : ctx.attrs<ReduceAttrs>().axes) {
    if (in.shape[axis] == 1) continue;
    if (in.strides[axis] > last) return false;
    last = in.strides[axis];
  }
  return true;
}

const char* refuse_positions(const KernelContext& ctx) {
  if (!is_floating(ctx.in(0).meta.dtype)) return "it takes floating elements";
  const ReductionPlan plan = plan_reduction(ctx.in(0), ctx.attrs<ReduceAttrs>().axes);
  if (plan.inner_is_kept || !plan.folded.empty()) return "the elements of a result must be a run";
  if (!in_memory_order(ctx)) return "the elements of a result must be in memory's order";
  return nullptr;
}

template <PositionsFn (FoldTable::*kFns)[kFloatDTypes]>
void run_positions(const KernelContext& ctx) {
  const PositionsFn fn = (g_folds.*kFns)[static_cast<int>(ctx.in(0).meta.dtype)];
  const ReductionPlan plan = plan_reduction(ctx.in(0), ctx.attrs<ReduceAttrs>().axes);
  const char* in = ctx.in(0).as<const char>();
  int64_t* out = ctx.out().as<int64_t>();
  const int64_t n = plan.inner.size;
  const int64_t results = ctx.out().meta.size();
  const double ns = kElementNs * static_cast<double>(n) + 20;
  parallel_ranges(results, std::max<int64_t>(1, kTileElements / std::max<int64_t>(n, 1)), ns,
                  [&](int64_t begin, int64_t end) {
                    AxesWalk kept(plan.kept, begin);
                    for (int64_t i = begin; i < end; ++i, kept.next()) {
                      fn(in + kept.in(), 0, 1, n, out + kept.out());
                    }
                  });
}

}  // namespace

const FoldTable& folds() { return g_folds; }

void choose_reduce_target() { fill_folds(g_folds); }

void register_reductions() {
  const auto add = [](const char* name, const char* (*refuse)(const KernelContext&),
                      void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cpu, {"simd", refuse, run});
  };
  add("sum", refuse_integers, run_fold<&FoldTable::sum, Finish::plain>);
  add("mean", refuse_integers, run_fold<&FoldTable::sum, Finish::mean>);
  add("max", refuse_integers, run_fold<&FoldTable::max, Finish::plain>);
  add("min", refuse_integers, run_fold<&FoldTable::min, Finish::plain>);
  add("norm", refuse_norm, run_fold<&FoldTable::squares, Finish::root>);
  add("argmax", refuse_positions, run_positions<&FoldTable::argmax>);
  add("argmin", refuse_positions, run_positions<&FoldTable::argmin>);
}

}  // namespace thalweg::simd
