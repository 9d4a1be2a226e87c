// Layer and RMS norm of samples that lie one after the other.

#include <algorithm>

#include <thalweg/base/threads.h>

#include "kernels/simd/norm.h"
#include "kernels/simd/norm_layout.h"
#include "ops/compose.h"
#include "ops/norm.h"

namespace thalweg::simd {
namespace {

NormTable g_table;

int64_t sample_size(const TensorMeta& x, const LayerNormAttrs& attrs) {
  const auto dims = static_cast<int64_t>(x.shape.size());
  int64_t n = 1;
  for (int64_t i = attrs.axis < 0 ? attrs.axis + dims : attrs.axis; i < dims; ++i) n *= x.shape[i];
  return n;
}

const char* refuse(const KernelContext& ctx) {
  if (ctx.in(0).meta.size() == 0) return "x is empty";
  for (size_t i = 0; i < ctx.inputs(); ++i) {
    if (ctx.has(i) && !ctx.in(i).meta.is_contiguous()) return "operands must be row-major";
  }
  return ctx.out().meta.is_contiguous() ? nullptr : "operands must be row-major";
}

// Weight and bias in the type of the arithmetic, from input `first` on.
class Parameters {
 public:
  Parameters(const KernelContext& ctx, size_t first, int64_t n, bool centered)
      : weight_(ctx.in(0).meta.dtype, ctx.has(first) ? n : 0),
        bias_(ctx.in(0).meta.dtype, ctx.has(first + 1) ? n : 0) {
    if (weight_.size())
      for_each_value(ctx.in(first), [&](int64_t i, double v) { weight_.set(i, v); });
    if (bias_.size())
      for_each_value(ctx.in(first + 1), [&](int64_t i, double v) { bias_.set(i, v); });
    p_ = {weight_.size() ? weight_.data() : nullptr, bias_.size() ? bias_.data() : nullptr,
          ctx.attrs<LayerNormAttrs>().epsilon, centered};
  }
  const LayerParameters& get() const { return p_; }

 private:
  NormArray weight_, bias_;
  LayerParameters p_;
};

template <bool kCentered>
void run_forward(const KernelContext& ctx) {
  const TensorImpl& x = ctx.in(0);
  const int64_t n = sample_size(x.meta, ctx.attrs<LayerNormAttrs>()), rows = x.meta.size() / n;
  const Parameters parameters(ctx, 1, n, kCentered);
  const auto layer = g_table.by_dtype[static_cast<int>(x.meta.dtype)].layer;
  const double ns = kNormElementNs * static_cast<double>(n) + 20;
  parallel_ranges(rows, std::max<int64_t>(1, kNormTileElements / n), ns,
                  [&](int64_t begin, int64_t end) {
                    layer(byte_at(x, begin * n), byte_at(ctx.out(), begin * n), end - begin, n,
                          parameters.get());
                  });
}

// Inputs grad, x, weight. The parameters' gradients are summed over fixed parts of the rows, at
// most kParts, which join in order.
template <bool kCentered>
void run_backward(const KernelContext& ctx) {
  constexpr int64_t kParts = 64;
  const TensorImpl& x = ctx.in(1);
  const int64_t n = sample_size(x.meta, ctx.attrs<LayerNormAttrs>()), rows = x.meta.size() / n;
  const Parameters parameters(ctx, 2, n, kCentered);
  const int64_t grain = std::max({int64_t{1}, kNormTileElements / n, (rows + kParts - 1) / kParts});
  const int64_t parts = (rows + grain - 1) / grain;
  Scratch<double> sums(2 * parts * n, 0.0);
  const auto gradient = g_table.by_dtype[static_cast<int>(x.meta.dtype)].layer_gradient;
  const double ns = 2 * kNormElementNs * static_cast<double>(n) + 40;
  parallel_ranges(rows, grain, ns, [&](int64_t begin, int64_t end) {
    double* dweight = sums.data() + begin / grain * 2 * n;
    gradient(byte_at(ctx.in(0), begin * n), byte_at(x, begin * n), byte_at(ctx.out(), begin * n),
             end - begin, n, parameters.get(), dweight, dweight + n);
  });
  for (size_t which = 1; which < ctx.outputs(); ++which) {
    const double* first = sums.data() + (which == 1 ? 0 : n);
    set_each_value(ctx.out(which), [&](int64_t i) {
      double total = 0;
      for (int64_t p = 0; p < parts; ++p) total += first[p * 2 * n + i];
      return total;
    });
  }
}

}  // namespace

void choose_layer_norm_target() { fill_norms(g_table); }

void register_layer_norm() {
  const auto add = [](const char* name, void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cpu, {"simd", refuse, run});
  };
  add("layer_norm", run_forward<true>);
  add("rms_norm", run_forward<false>);
  add("layer_norm_vjp", run_backward<true>);
  add("rms_norm_vjp", run_backward<false>);
}

}  // namespace thalweg::simd
