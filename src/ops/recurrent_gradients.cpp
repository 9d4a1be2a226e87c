// The gradient of recurrent layers in terms of ops, time by time: for where it will be
// differentiated again.

#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "ops/recurrent.h"

namespace thalweg {
namespace {

using In = RecurrentIn;
using Out = RecurrentOut;

Tensor at_time(const Tensor& x, int64_t t) { return squeeze(slice(x, 1, t, t + 1), {1}); }

// Gradients of the states at one time, and of the gates made from there.
struct Gradients {
  Tensor dh, dc;  // at first of this time's states, then of those before but for products
  Tensor dx, dproduct;
};

class BackwardByOps {
 public:
  explicit BackwardByOps(VjpContext& ctx) : ctx_(ctx), attrs_(ctx.attrs<RecurrentAttrs>()) {
    const TensorMeta& y = ctx.output_meta(Out::y);
    batch_ = y.shape[0];
    steps_ = y.shape[1];
    units_ = y.shape[2];
    like_ = {y.dtype, y.device};
  }

  void run() {
    Gradients g;
    g.dh = grad_or_zeros(Out::h, {batch_, units_});
    g.dc = is_lstm() ? grad_or_zeros(Out::c, {batch_, units_}) : Tensor();
    std::vector<Tensor> dx(static_cast<size_t>(steps_)), dproduct = dx, states = dx;
    for (int64_t s = steps_; s-- > 0;) {
      const int64_t t = attrs_.reverse ? steps_ - 1 - s : s;
      const auto i = static_cast<size_t>(t);
      states[i] = before(ctx_.output(Out::y), In::h0, t);
      step(t, states[i], g);
      dx[i] = g.dx;
      dproduct[i] = g.dproduct;
    }
    if (ctx_.needs(In::h0)) ctx_.set(In::h0, g.dh);
    if (ctx_.needs(In::c0)) ctx_.set(In::c0, g.dc);
    set_products(dx, dproduct, states);
  }

 private:
  bool is_lstm() const { return attrs_.cell == RecurrentCell::lstm; }
  Tensor zeros(const Shape& shape) const { return Tensor::zeros(shape, like_); }
  Tensor grad_or_zeros(size_t output, const Shape& shape) const {
    return ctx_.has_grad(output) ? ctx_.grad(output) : zeros(shape);
  }
  /// Adds what reaches an output at time t.
  Tensor with_grad(const Tensor& sum, size_t output, int64_t t) const {
    return ctx_.has_grad(output) ? sum + at_time(ctx_.grad(output), t) : sum;
  }
  Tensor gate(const Tensor& all, int64_t i) const {
    return slice(all, 1, i * units_, (i + 1) * units_);
  }
  /// True for the sequences that have a time t: [B, 1].
  Tensor has_time(int64_t t) const { return expand_dims(ctx_.input(In::lengths), 1) > t; }

  // The state with which time t began: that after the time before it, or the first.
  Tensor before(const Tensor& states, size_t first, int64_t t) const {
    const int64_t from = attrs_.reverse ? t + 1 : t - 1;
    const auto beginning = [&] {
      return ctx_.input(first).defined() ? ctx_.input(first) : zeros({batch_, units_});
    };
    if (from < 0 || from >= steps_) return beginning();
    const Tensor state = at_time(states, from);
    const bool may_end = attrs_.reverse && ctx_.input(In::lengths).defined();
    return may_end ? where(has_time(from), state, beginning()) : state;
  }

  void step(int64_t t, const Tensor& state, Gradients& g) const {
    const Gradients after = g;
    g.dh = with_grad(g.dh, Out::y, t);
    if (is_lstm())
      lstm(t, g);
    else if (attrs_.cell == RecurrentCell::gru)
      gru(t, state, g);
    else
      elman(t, g);
    const Tensor product = matmul(g.dproduct, ctx_.input(In::weight));
    g.dh = g.dh.defined() ? g.dh + product : product;
    if (!ctx_.input(In::lengths).defined()) return;
    const Tensor active = has_time(t);
    g.dx = where(active, g.dx, 0);
    g.dproduct = where(active, g.dproduct, 0);
    g.dh = where(active, g.dh, after.dh);
    if (is_lstm()) g.dc = where(active, g.dc, after.dc);
  }

  Tensor activation(int64_t i, int64_t t) const {
    return gate(at_time(ctx_.output(Out::activations), t), i);
  }
  Tensor through_activation(const Tensor& gradient, int64_t i, int64_t t) const {
    if (!ctx_.has_grad(Out::activations)) return gradient;
    return gradient + gate(at_time(ctx_.grad(Out::activations), t), i);
  }

  void lstm(int64_t t, Gradients& g) const {
    const Tensor i = activation(0, t), f = activation(1, t), c = activation(2, t),
                 o = activation(3, t);
    const Tensor squashed = tanh(at_time(ctx_.output(Out::cells), t));
    const Tensor dc = with_grad(g.dc, Out::cells, t) + g.dh * o * (1 - square(squashed));
    const Tensor c_before = before(ctx_.output(Out::cells), In::c0, t);
    g.dx = concat({through_activation(dc * c, 0, t) * i * (1 - i),
                   through_activation(dc * c_before, 1, t) * f * (1 - f),
                   through_activation(dc * i, 2, t) * (1 - square(c)),
                   through_activation(g.dh * squashed, 3, t) * o * (1 - o)},
                  1);
    g.dproduct = g.dx;
    g.dc = dc * f;
    g.dh = Tensor();
  }

  void gru(int64_t t, const Tensor& state, Gradients& g) const {
    const Tensor r = activation(0, t), z = activation(1, t), n = activation(2, t),
                 product = activation(3, t);
    const Tensor dn = through_activation(g.dh * (1 - z), 2, t) * (1 - square(n));
    const Tensor dr = through_activation(dn * product, 0, t) * r * (1 - r);
    const Tensor dz = through_activation(g.dh * (state - n), 1, t) * z * (1 - z);
    g.dx = concat({dr, dz, dn}, 1);
    g.dproduct = concat({dr, dz, through_activation(dn * r, 3, t)}, 1);
    g.dh = g.dh * z;
  }

  void elman(int64_t t, Gradients& g) const {
    const Tensor y = at_time(ctx_.output(Out::y), t);
    if (attrs_.cell == RecurrentCell::tanh)
      g.dx = g.dh * (1 - square(y));
    else
      g.dx = where(y > 0, g.dh, 0);
    g.dproduct = g.dx;
    g.dh = Tensor();
  }

  // What was gathered over the times: the gates' gradients, and the products' with the states.
  void set_products(const std::vector<Tensor>& dx, const std::vector<Tensor>& dproduct,
                    const std::vector<Tensor>& states) const {
    const int64_t wide = gate_count(attrs_.cell) * units_;
    if (steps_ == 0) {
      if (ctx_.needs(In::gates)) ctx_.set(In::gates, zeros({batch_, 0, wide}));
      if (ctx_.needs(In::weight)) ctx_.set(In::weight, zeros({wide, units_}));
      if (ctx_.needs(In::bias)) ctx_.set(In::bias, zeros({wide}));
      return;
    }
    if (ctx_.needs(In::gates)) ctx_.set(In::gates, stack(dx, 1));
    const Tensor products = concat(dproduct, 0);
    if (ctx_.needs(In::weight)) {
      ctx_.set(In::weight, matmul(transpose(products), concat(states, 0)));
    }
    if (ctx_.needs(In::bias)) ctx_.set(In::bias, sum(products, {0}));
  }

  VjpContext& ctx_;
  const RecurrentAttrs& attrs_;
  int64_t batch_, steps_, units_;
  TensorOptions like_;
};

}  // namespace

void recurrent_gradients_by_ops(VjpContext& ctx) { BackwardByOps(ctx).run(); }

}  // namespace thalweg
