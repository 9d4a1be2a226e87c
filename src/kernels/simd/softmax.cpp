#include "kernels/simd/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <thalweg/base/threads.h>

#include "kernels/simd/reduction_plan.h"
#include "kernels/simd/softmax_rows.h"
#include "ops/compose.h"
#include "ops/reduce.h"
#include "ops/scalar.h"
#include "ops/softmax.h"
#include "tensor/same.h"

namespace thalweg::simd {
namespace {

SoftmaxTable g_table;

constexpr int64_t kTileElements = 8192;
constexpr double kElementNs = 1.5;
constexpr double kRowNs = 20;

const SoftmaxFns& fns_of(DType dtype) { return g_table.by_dtype[static_cast<int>(dtype)]; }

// Runs f(first row, rows) over rows of n elements.
template <typename F>
void for_rows(int64_t rows, int64_t n, F&& f) {
  const double ns = kElementNs * static_cast<double>(n) + kRowNs;
  parallel_ranges(rows, std::max<int64_t>(1, kTileElements / std::max<int64_t>(n, 1)), ns,
                  [&](int64_t begin, int64_t end) { f(begin, end - begin); });
}

size_t axis_from_start(int64_t axis, const TensorMeta& m) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(m.shape.size()) : axis);
}

// True if the elements along the axis lie side by side and fill memory without gaps.
bool has_plain_rows(const TensorMeta& m, size_t axis) {
  return m.is_dense() && (m.strides[axis] == 1 || m.shape[axis] <= 1);
}

constexpr const char* kRowsReason = "the axis must be the innermost one in memory, without gaps";

// --- softmax ---

// Inputs and output 0 have the same elements in the same places, as rows along the axis.
const char* refuse_softmax(const KernelContext& ctx) {
  const TensorMeta& out = ctx.out().meta;
  for (size_t i = 0; i < ctx.inputs(); ++i) {
    if (!same_layout(ctx.in(i).meta, out)) return "operands differ in shape or strides";
  }
  const size_t axis = axis_from_start(ctx.attrs<SoftmaxAttrs>().axis, out);
  return has_plain_rows(out, axis) ? nullptr : kRowsReason;
}

const char* byte(const TensorImpl& t, int64_t element) {
  return t.as<const char>() + element * static_cast<int64_t>(item_size(t.meta.dtype));
}
char* byte(TensorImpl& t, int64_t element) {
  return t.as<char>() + element * static_cast<int64_t>(item_size(t.meta.dtype));
}

template <auto SoftmaxFns::*kFn>
void run_softmax(const KernelContext& ctx) {
  TensorImpl& out = ctx.out();
  const int64_t size = out.meta.size();
  if (size == 0) return;
  const int64_t n = out.meta.shape[axis_from_start(ctx.attrs<SoftmaxAttrs>().axis, out.meta)];
  const auto fn = fns_of(out.meta.dtype).*kFn;
  for_rows(size / n, n, [&](int64_t row, int64_t rows) {
    const int64_t at = row * n;
    if constexpr (std::is_invocable_v<decltype(fn), const void*, void*, int64_t, int64_t>)
      fn(byte(ctx.in(0), at), byte(out, at), rows, n);
    else
      fn(byte(ctx.in(0), at), byte(ctx.in(1), at), byte(out, at), rows, n);
  });
}

// --- logsumexp ---

const char* refuse_logsumexp(const KernelContext& ctx) {
  const ReductionPlan plan = plan_reduction(ctx.in(0), ctx.attrs<ReduceAttrs>().axes);
  return plan.inner_is_kept || !plan.folded.empty() || ctx.in(0).meta.size() == 0
             ? "the elements of a result must be a run"
             : nullptr;
}

void run_logsumexp(const KernelContext& ctx) {
  const ReductionPlan plan = plan_reduction(ctx.in(0), ctx.attrs<ReduceAttrs>().axes);
  const int64_t n = plan.inner.size;
  const auto logsumexp = fns_of(ctx.in(0).meta.dtype).logsumexp;
  visit_dtype(ctx.out().meta.dtype, [&]<typename T>(T) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      T* out = ctx.out().as<T>();
      for_rows(axes_count(plan.kept), n, [&](int64_t row, int64_t rows) {
        AxesWalk kept(plan.kept, row);
        for (int64_t i = 0; i < rows; ++i, kept.next()) {
          double result;
          logsumexp(ctx.in(0).as<const char>() + kept.in(), 1, n, &result);
          out[kept.out()] = static_cast<T>(result);
        }
      });
    }
  });
}

// --- softmax_cross_entropy ---

// Of sparse labels, without class weights; `pred` is its place among the inputs. Sample i is row i.
const char* refuse_loss(const KernelContext& ctx, size_t pred) {
  const TensorMeta &x = ctx.in(pred).meta, &label = ctx.in(pred + 1).meta;
  if (ctx.has(pred + 2)) return "class weights";
  if (label.shape.size() == x.shape.size()) return "labels that are distributions";
  const size_t axis = axis_from_start(ctx.attrs<SoftmaxCrossEntropyAttrs>().axis, x);
  if (axis + 1 != x.shape.size() || !x.is_contiguous() || !label.is_contiguous()) {
    return "the classes must be the last axis of row-major logits, and labels row-major";
  }
  return nullptr;
}

const char* refuse_forward(const KernelContext& ctx) { return refuse_loss(ctx, 0); }
const char* refuse_backward(const KernelContext& ctx) {
  if (!ctx.in(0).meta.is_contiguous()) return "the gradient must be row-major";
  return refuse_loss(ctx, 1);
}

// Calls f(T, Label) with elements of the types of logits and labels.
template <typename F>
void visit_loss(DType logits, DType labels, F&& f) {
  visit_dtype(logits, [&]<typename T>(T) {
    visit_dtype(labels, [&]<typename Label>(Label) {
      constexpr bool is_class = std::is_integral_v<Label> && !std::is_same_v<Label, bool>;
      if constexpr (std::is_floating_point_v<ComputeType<T>> && is_class) f(T{}, Label{});
    });
  });
}

template <typename T>
double as_double(T value) {
  return static_cast<double>(static_cast<ComputeType<T>>(value));
}

// Throws for a label that is no class and not ignored.
template <typename Label>
void check_labels(const KernelContext& ctx, const Label* labels, int64_t rows, int64_t n) {
  const int64_t ignored = ctx.attrs<SoftmaxCrossEntropyAttrs>().ignore_label;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t label = static_cast<int64_t>(labels[i]);
    if ((label < 0 || label >= n) && label != ignored) check_classes(ctx);
  }
}

// The loss of a row whose log(sum(exp(x))) is `total`: -sum(u log(softmax(x))), where u is 1 -
// smoothing at the label, and smoothing / n everywhere.
template <typename T>
double row_loss(const T* x, int64_t n, int64_t label, double total, double smoothing) {
  const double loss = (1 - smoothing) * (total - as_double(x[label]));
  if (smoothing == 0) return loss;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += total - as_double(x[i]);
  return loss + smoothing / static_cast<double>(n) * sum;
}

void run_loss(const KernelContext& ctx) {
  constexpr int64_t kRows = 64;
  const auto& attrs = ctx.attrs<SoftmaxCrossEntropyAttrs>();
  const int64_t rows = ctx.out().meta.size(), n = ctx.in(0).meta.shape.back();
  const DType dtype = ctx.in(0).meta.dtype;
  const auto logsumexp = fns_of(dtype).logsumexp;
  visit_loss(dtype, ctx.in(1).meta.dtype, [&]<typename T, typename Label>(T, Label) {
    const T* x = ctx.in(0).as<T>();
    const Label* labels = ctx.in(1).as<Label>();
    T* out = ctx.out().as<T>();
    check_labels(ctx, labels, rows, n);
    for_rows(rows, n, [&](int64_t begin, int64_t count) {
      double totals[kRows];
      for (int64_t first = begin; first < begin + count; first += kRows) {
        const int64_t block = std::min(kRows, begin + count - first);
        logsumexp(x + first * n, block, n, totals);
        for (int64_t r = first; r < first + block; ++r) {
          const auto label = static_cast<int64_t>(labels[r]);
          const bool counts = label != attrs.ignore_label;
          out[r] = static_cast<T>(
              counts ? row_loss(x + r * n, n, label, totals[r - first], attrs.label_smoothing) : 0);
        }
      }
    });
  });
}

// Inputs grad, pred, label. grad * (softmax(x) - u).
void run_loss_vjp(const KernelContext& ctx) {
  const auto& attrs = ctx.attrs<SoftmaxCrossEntropyAttrs>();
  const int64_t rows = ctx.in(0).meta.size(), n = ctx.in(1).meta.shape.back();
  const DType dtype = ctx.in(1).meta.dtype;
  const double shared = attrs.label_smoothing / static_cast<double>(n);
  const auto loss_gradient = fns_of(dtype).loss_gradient;
  visit_loss(dtype, ctx.in(2).meta.dtype, [&]<typename T, typename Label>(T, Label) {
    const T *grads = ctx.in(0).as<T>(), *x = ctx.in(1).as<T>();
    const Label* labels = ctx.in(2).as<Label>();
    T* out = ctx.out().as<T>();
    for_rows(rows, n, [&](int64_t first, int64_t count) {
      for (int64_t r = first; r < first + count; ++r) {
        const auto label = static_cast<int64_t>(labels[r]);
        T* dx = out + r * n;
        if (label == attrs.ignore_label) {
          std::fill_n(dx, n, static_cast<T>(0.0f));
        } else if (label < 0 || label >= n) {  // of a forward pass that was never run
          std::fill_n(dx, n, static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
        } else {
          const double g = as_double(grads[r]);
          loss_gradient(x + r * n, dx, n, label, g, -g * shared, g * (1 - attrs.label_smoothing));
        }
      }
    });
  });
}

}  // namespace

void choose_softmax_target() { fill_softmax(g_table); }

void register_softmax() {
  const auto add = [](const char* name, const char* (*refuse)(const KernelContext&),
                      void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cpu, {"simd", refuse, run});
  };
  add("softmax", refuse_softmax, run_softmax<&SoftmaxFns::softmax>);
  add("log_softmax", refuse_softmax, run_softmax<&SoftmaxFns::log_softmax>);
  add("softmax_vjp", refuse_softmax, run_softmax<&SoftmaxFns::softmax_vjp>);
  add("log_softmax_vjp", refuse_softmax, run_softmax<&SoftmaxFns::log_softmax_vjp>);
  add("logsumexp", refuse_logsumexp, run_logsumexp);
  add("softmax_cross_entropy", refuse_forward, run_loss);
  add("softmax_cross_entropy_vjp", refuse_backward, run_loss_vjp);
}

}  // namespace thalweg::simd
