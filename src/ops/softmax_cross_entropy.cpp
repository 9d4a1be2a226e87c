// The cross entropy of labels and logits. Written as -sum(u log(softmax(pred))) with u = w q, the
// label as a distribution times the class weights, its gradient is softmax(pred) sum(u) - u.

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/reference.h"
#include "ops/samples.h"
#include "ops/softmax.h"
#include "ops/softmax_lane.h"
#include "ops/table.h"

namespace thalweg {
namespace {

using Attrs = SoftmaxCrossEntropyAttrs;

bool is_sparse(const TensorMeta& pred, const TensorMeta& label) {
  return label.shape.size() + 1 == pred.shape.size();
}

// --- inference ---
void check_label(const InferContext& ctx, size_t axis, const Shape& samples) {
  const TensorMeta &pred = ctx.in(0), &label = ctx.in(1);
  if (label.shape != samples && label.shape != pred.shape) {
    fail_invalid(
        "softmax_cross_entropy: label of shape {} for pred of shape {} with classes along axis "
        "{}; expected {} (a class each) or {} (distributions)",
        to_string(label.shape), to_string(pred.shape), axis, to_string(samples),
        to_string(pred.shape));
  }
  if (label.shape == pred.shape) {
    require_same_dtype(ctx, 0, 1);
    if (ctx.attrs<Attrs>().ignore_label != kNoIgnoredLabel) {
      fail_invalid("softmax_cross_entropy: ignore_label {} with distributions as labels",
                   ctx.attrs<Attrs>().ignore_label);
    }
  } else if (!is_integer(label.dtype)) {
    fail_invalid(
        "softmax_cross_entropy: {} label of shape {}; classes are integers; convert with "
        "to(DType::i64)",
        name(label.dtype), to_string(label.shape));
  }
}

void infer_loss(const InferContext& ctx) {
  require_floating(ctx, 0);
  const Attrs& a = ctx.attrs<Attrs>();
  Shape samples = ctx.in(0).shape;
  const size_t axis = axis_of(ctx, a.axis, samples.size());
  const int64_t classes = samples[axis];
  samples.erase(axis);
  check_label(ctx, axis, samples);
  if (!(a.label_smoothing >= 0 && a.label_smoothing <= 1)) {
    fail_invalid("softmax_cross_entropy: label_smoothing is {}; it must be from 0 to 1",
                 a.label_smoothing);
  }
  if (ctx.has(2)) {
    require_same_dtype(ctx, 0, 2);
    if (ctx.in(2).shape != Shape{classes}) {
      fail_invalid("softmax_cross_entropy: class_weights of shape {} for {} classes; expected [{}]",
                   to_string(ctx.in(2).shape), classes, classes);
    }
  }
  ctx.out().dtype = ctx.in(0).dtype;
  ctx.out().set_row_major(samples);
}

void infer_loss_vjp(const InferContext& ctx) {
  const TensorMeta& pred = ctx.in(1);
  ctx.out().dtype = pred.dtype;
  ctx.out().shape = pred.shape;
  ctx.out().strides = pred.is_dense() ? pred.strides : row_major_strides(pred.shape);
}

}  // namespace

void check_classes(const KernelContext& ctx) {
  const TensorMeta& pred = ctx.in(0).meta;
  const TensorImpl& label = ctx.in(1);
  if (!is_sparse(pred, label.meta)) return;
  const Attrs& a = ctx.attrs<Attrs>();
  const int64_t classes = pred.shape[axis_of(ctx, a.axis, pred.shape.size())];
  visit_dtype(label.meta.dtype, [&](auto zero) {
    const auto* values = label.as<decltype(zero)>();
    int64_t sample = -1;
    for_each_position<1>({&label.meta}, kNoAxis, [&](const auto& at) {
      ++sample;
      const auto value = static_cast<int64_t>(values[at[0]]);
      if ((value >= 0 && value < classes) || value == a.ignore_label) return;
      fail_invalid(
          "softmax_cross_entropy: label {} of sample {} is none of the {} classes from 0; set "
          "ignore_label to leave such samples out",
          value, sample, classes);
    });
  });
}

namespace {

// --- reference kernels ---

// u, one sample after the other.
class Targets {
 public:
  /// `first` is the place of pred among the inputs.
  Targets(const KernelContext& ctx, size_t first, size_t axis)
      : attrs_(ctx.attrs<Attrs>()),
        classes_(ctx.in(first).meta.shape[axis]),
        sparse_(is_sparse(ctx.in(first).meta, ctx.in(first + 1).meta)),
        label_(ctx.in(first + 1)),
        walk_(sparse_ ? repeated_along(label_.meta, axis, classes_) : label_.meta),
        step_(walk_.strides[axis]),
        weights_(ctx.has(first + 2) ? to_doubles(ctx.in(first + 2)) : Scratch<double>(0)) {}

  /// The label's meta in pred's shape.
  const TensorMeta& meta() const { return walk_; }
  void start_at(int64_t position) {
    position_ = position;
    scale_ = 1;
    if (!sparse_) return;
    label_class_ = static_cast<int64_t>(element(position));
    if (label_class_ == attrs_.ignore_label)
      scale_ = 0;
    else if (label_class_ < 0 || label_class_ >= classes_)
      scale_ = std::numeric_limits<double>::quiet_NaN();
  }
  double operator()(int64_t i) const {
    const double q = sparse_ ? i == label_class_ : element(position_ + i * step_);
    const double smooth =
        q * (1 - attrs_.label_smoothing) + attrs_.label_smoothing / static_cast<double>(classes_);
    return scale_ * (weights_.size() ? weights_[i] : 1) * smooth;
  }

 private:
  double element(int64_t position) const {
    return visit_dtype(label_.meta.dtype, [&](auto zero) {
      return as_double(label_.as<const decltype(zero)>()[position]);
    });
  }

  const Attrs& attrs_;
  int64_t classes_;
  bool sparse_;
  const TensorImpl& label_;
  TensorMeta walk_;
  int64_t step_;
  Scratch<double> weights_;
  int64_t position_ = 0;
  int64_t label_class_ = 0;
  double scale_ = 1;
};

void reference_loss(const KernelContext& ctx) {
  check_classes(ctx);
  const TensorMeta& x = ctx.in(0).meta;
  const size_t axis = axis_of(ctx, ctx.attrs<Attrs>().axis, x.shape.size());
  const int64_t n = x.shape[axis];
  const TensorMeta loss = repeated_along(ctx.out().meta, axis, n);
  Targets target(ctx, 0, axis);
  visit_floating(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_position<3>({&x, &target.meta(), &loss}, axis, [&](const auto& at) {
      const SoftmaxLane<T> lane(ctx.in(0).as<T>() + at[0], x.strides[axis], n);
      target.start_at(at[1]);
      double total = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (const double u = target(i); u != 0) total -= u * lane.log_share(i);
      }
      ctx.out().as<T>()[at[2]] = static_cast<T>(total);
    });
  });
}

// Inputs grad, pred, label, weight.
void reference_loss_vjp(const KernelContext& ctx) {
  const TensorMeta &x = ctx.in(1).meta, &dx = ctx.out().meta;
  const size_t axis = axis_of(ctx, ctx.attrs<Attrs>().axis, x.shape.size());
  const int64_t n = x.shape[axis];
  const TensorMeta grad = repeated_along(ctx.in(0).meta, axis, n);
  Targets target(ctx, 1, axis);
  visit_floating(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_position<4>({&x, &target.meta(), &grad, &dx}, axis, [&](const auto& at) {
      const SoftmaxLane<T> lane(ctx.in(1).as<T>() + at[0], x.strides[axis], n);
      const double g = as_double(ctx.in(0).as<T>()[at[2]]);
      target.start_at(at[1]);
      double total = 0;
      for (int64_t i = 0; i < n; ++i) total += target(i);
      for (int64_t i = 0; i < n; ++i) {
        ctx.out().as<T>()[at[3] + i * dx.strides[axis]] =
            static_cast<T>(g * (lane.share(i) * total - target(i)));
      }
    });
  });
}

const Op kLossVjp{.name = "softmax_cross_entropy_vjp",
                  .doc = "The gradient of softmax_cross_entropy with respect to pred.",
                  .inputs = "grad, pred, label, class_weights?",
                  .attrs = attr_info<Attrs>,
                  .flags = {.internal = true},
                  .infer = infer_loss_vjp,
                  .no_gradient = "it is a fused gradient, used where no second one is wanted",
                  .reference = reference_loss_vjp};

// --- the gradient in terms of ops ---

// [C] with size 1 along all axes but `axis`.
Tensor along(const Tensor& x, size_t axis, size_t dims) {
  Shape shape(dims, 1);
  shape[axis] = x.size();
  return reshape(x, shape);
}

// q, of pred's shape.
Tensor distribution(const Tensor& label, const TensorMeta& pred, const Attrs& a, size_t axis) {
  const auto classes = static_cast<double>(pred.shape[axis]);
  Tensor q = label;
  if (is_sparse(pred, label.meta())) {
    const Tensor all =
        along(arange(pred.shape[axis], {DType::i64, pred.device}), axis, pred.shape.size());
    q = cast(expand_dims(label, static_cast<int64_t>(axis)) == all, pred.dtype);
  }
  if (a.label_smoothing > 0) q = q * (1 - a.label_smoothing) + a.label_smoothing / classes;
  if (a.ignore_label != kNoIgnoredLabel) {
    const Tensor counts = label != static_cast<double>(a.ignore_label);
    q = q * cast(expand_dims(counts, static_cast<int64_t>(axis)), pred.dtype);
  }
  return q;
}

void vjp_loss_by_ops(VjpContext& ctx) {
  const Attrs& a = ctx.attrs<Attrs>();
  const TensorMeta& pred = ctx.input_meta(0);
  const size_t dims = pred.shape.size();
  const size_t axis = axis_of(ctx, a.axis, dims);
  const auto at = static_cast<int64_t>(axis);
  const Tensor g = expand_dims(ctx.grad(), at);
  Tensor weight = ctx.input(2);
  if (weight.defined()) weight = along(weight, axis, dims);
  if (ctx.needs(0)) {
    Tensor u = distribution(ctx.input(1), pred, a, axis);
    if (weight.defined()) u = u * weight;
    ctx.set(0, g * (softmax(ctx.input(0), at) * sum(u, {at}, true) - u));
  }
  if (!ctx.needs(1) && !ctx.needs(2)) return;
  const Tensor surprise = g * -log_softmax(ctx.input(0), at);
  if (ctx.needs(1)) {
    const Tensor d = surprise * (1 - a.label_smoothing);
    ctx.set(1, weight.defined() ? d * weight : d);
  }
  if (ctx.needs(2)) {
    const Tensor q = distribution(ctx.input(1), pred, a, axis);
    Shape kept(dims, 1);
    kept[axis] = pred.shape[axis];
    ctx.set(2, reshape(sum_to(surprise * q, kept), {pred.shape[axis]}));
  }
}

void vjp_loss(VjpContext& ctx) {
  if (ctx.creates_graph() || ctx.needs(1) || ctx.needs(2)) return vjp_loss_by_ops(ctx);
  ctx.set(0,
          call(kLossVjp, ctx.attrs<Attrs>(), ctx.grad(), ctx.input(0), ctx.input(1), ctx.input(2)));
}

void sample_loss(Samples& s) {
  s.add({s.spread({4, 5}), s.integers({4}, 0, 5), Tensor()}, Attrs{});
  s.add({s.spread({3, 4}), s.spread({3, 4}, 0.1, 0.9), s.spread({4}, 0.5, 2)}, Attrs{-1, 0.1});
  s.add({s.spread({2, 3, 4}), s.integers({2, 4}, 0, 3), s.spread({3}, 0.5, 2)}, Attrs{1, 0.2, 1});
  s.add({transpose(s.spread({5, 3})), s.integers({3}, 0, 5), Tensor()}, Attrs{-1, 0, 4});
  s.add({s.spread({0, 3}), s.integers({0}, 0, 3), Tensor()}, Attrs{});
  s.add({s.spread({33, 20}, -20, 20), s.integers({33}, 0, 20), Tensor()}, Attrs{});
}

const Op kLoss{.name = "softmax_cross_entropy",
               .doc = "The cross entropy of labels and the softmax of logits, one value a sample.",
               .inputs = "pred, label, class_weights?",
               .attrs = attr_info<Attrs>,
               .infer = infer_loss,
               .vjp = vjp_loss,
               .saves = {Saves{7, 0}, Saves{5, 0}, Saves{3, 0}},
               .reference = reference_loss,
               .samples = sample_loss};

}  // namespace

Tensor softmax_cross_entropy(const Tensor& pred, const Tensor& label,
                             const SoftmaxCrossEntropyOptions& options) {
  const Attrs a{options.axis, options.label_smoothing, options.ignore_label};
  const Tensor& weight = options.class_weights;
  if (!pred.defined() || !label.defined()) return call(kLoss, a, pred, label, weight);
  const bool dense = label.shape() == pred.shape();
  return call(kLoss, a, pred, dense ? cast(label, pred.dtype()) : label,
              weight.defined() ? cast(weight, pred.dtype()) : weight);
}

std::span<const Op* const> softmax_cross_entropy_rows() {
  static constexpr const Op* rows[] = {&kLoss, &kLossVjp};
  return rows;
}

}  // namespace thalweg
