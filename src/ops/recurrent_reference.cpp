#include <cmath>

#include "ops/recurrent.h"
#include "ops/reference.h"

namespace thalweg {
namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// The elements of an optional input, row-major, or zeros.
Scratch<double> doubles_or_zeros(const KernelContext& ctx, size_t i, int64_t size) {
  return ctx.has(i) ? to_doubles(ctx.in(i)) : Scratch<double>(size, 0.0);
}

void write_doubles(TensorImpl& out, const Scratch<double>& values) {
  visit_floating(out.meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    int64_t next = 0;
    for_each_position<1>({&out.meta}, kNoAxis, [&](const auto& at) {
      out.as<T>()[at[0]] = static_cast<T>(values[next++]);
    });
  });
}

// One sequence at one time, all of whose arrays have a row of n units for each gate.
struct Moment {
  RecurrentCell cell;
  int64_t n;
  const double* x;        // the input's part of the gates
  const double* product;  // the state's part
  double* activations;
  double *h, *c;  // states, replaced by the next ones
};

void step_unit(const Moment& m, int64_t j) {
  const int64_t n = m.n;
  const auto sum = [&](int64_t gate) { return m.x[gate * n + j] + m.product[gate * n + j]; };
  double* a = m.activations + j;
  switch (m.cell) {
    case RecurrentCell::lstm:
      for (int64_t gate = 0; gate < 4; ++gate) {
        a[gate * n] = gate == 2 ? std::tanh(sum(gate)) : sigmoid_of(sum(gate));
      }
      m.c[j] = a[n] * m.c[j] + a[0] * a[2 * n];
      m.h[j] = a[3 * n] * std::tanh(m.c[j]);
      return;
    case RecurrentCell::gru:
      a[0] = sigmoid_of(sum(0));
      a[n] = sigmoid_of(sum(1));
      a[3 * n] = m.product[2 * n + j];
      a[2 * n] = std::tanh(m.x[2 * n + j] + a[0] * a[3 * n]);
      m.h[j] = (1 - a[n]) * a[2 * n] + a[n] * m.h[j];
      return;
    case RecurrentCell::tanh:
      m.h[j] = std::tanh(sum(0));
      return;
    case RecurrentCell::relu:
      m.h[j] = std::fmax(sum(0), 0.0);
      return;
  }
}

// The same place in the gradient.
struct Reverse {
  RecurrentCell cell;
  int64_t n;
  const double *y, *activations, *c, *h_before, *c_before;
  const double* grad_activations;
  double *dh, *dc;  // of the states, replaced by those of the states before, but for products
  double *dx, *dproduct;
};

void reverse_lstm(const Reverse& r, int64_t j) {
  const int64_t n = r.n;
  const double *a = r.activations + j, *more = r.grad_activations + j;
  const double i = a[0], f = a[n], g = a[2 * n], o = a[3 * n], t = std::tanh(r.c[j]);
  const double dc = r.dc[j] + r.dh[j] * o * (1 - t * t);
  double* dx = r.dx + j;
  dx[0] = (dc * g + more[0]) * i * (1 - i);
  dx[n] = (dc * r.c_before[j] + more[n]) * f * (1 - f);
  dx[2 * n] = (dc * i + more[2 * n]) * (1 - g * g);
  dx[3 * n] = (r.dh[j] * t + more[3 * n]) * o * (1 - o);
  for (int64_t gate = 0; gate < 4; ++gate) r.dproduct[gate * n + j] = dx[gate * n];
  r.dc[j] = dc * f;
  r.dh[j] = 0;
}

void reverse_gru(const Reverse& r, int64_t j) {
  const int64_t n = r.n;
  const double *a = r.activations + j, *more = r.grad_activations + j;
  const double reset = a[0], z = a[n], candidate = a[2 * n], product = a[3 * n];
  double *dx = r.dx + j, *dp = r.dproduct + j;
  const double dn = (r.dh[j] * (1 - z) + more[2 * n]) * (1 - candidate * candidate);
  dx[0] = dp[0] = (dn * product + more[0]) * reset * (1 - reset);
  dx[n] = dp[n] = (r.dh[j] * (r.h_before[j] - candidate) + more[n]) * z * (1 - z);
  dx[2 * n] = dn;
  dp[2 * n] = dn * reset + more[3 * n];
  r.dh[j] *= z;
}

void reverse_unit(const Reverse& r, int64_t j) {
  if (r.cell == RecurrentCell::lstm) return reverse_lstm(r, j);
  if (r.cell == RecurrentCell::gru) return reverse_gru(r, j);
  const double y = r.y[j];
  const double slope = r.cell == RecurrentCell::tanh ? 1 - y * y : y > 0 ? 1 : 0;
  r.dx[j] = r.dproduct[j] = r.dh[j] * slope;
  r.dh[j] = 0;
}

}  // namespace

void reference_recurrent(const KernelContext& ctx) {
  using In = RecurrentIn;
  using Out = RecurrentOut;
  const auto& a = ctx.attrs<RecurrentAttrs>();
  const auto [batch, steps, n, gates, wide, kept, lstm] =
      RecurrentSizes(ctx.out(Out::y).meta.shape, a.cell);
  const Scratch<int64_t> lengths = sequence_lengths(ctx, In::lengths, batch, steps);
  const Scratch<double> x = to_doubles(ctx.in(In::gates)), weight = to_doubles(ctx.in(In::weight));
  const Scratch<double> bias = doubles_or_zeros(ctx, In::bias, wide);
  Scratch<double> h = doubles_or_zeros(ctx, In::h0, batch * n);
  Scratch<double> c = doubles_or_zeros(ctx, In::c0, lstm ? batch * n : 0);
  Scratch<double> y(batch * steps * n, 0.0), activations(batch * steps * kept, 0.0);
  Scratch<double> cells(lstm ? batch * steps * n : 0, 0.0), product(wide);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t s = 0; s < lengths[b]; ++s) {
      const int64_t at = b * steps + (a.reverse ? lengths[b] - 1 - s : s);
      for (int64_t i = 0; i < wide; ++i) {
        product[i] = bias[i];
        for (int64_t k = 0; k < n; ++k) product[i] += weight[i * n + k] * h[b * n + k];
      }
      const Moment moment{a.cell,
                          n,
                          x.data() + at * wide,
                          product.data(),
                          activations.data() + at * kept,
                          h.data() + b * n,
                          lstm ? c.data() + b * n : nullptr};
      for (int64_t j = 0; j < n; ++j) {
        step_unit(moment, j);
        y[at * n + j] = h[b * n + j];
        if (lstm) cells[at * n + j] = c[b * n + j];
      }
    }
  }
  write_doubles(ctx.out(Out::y), y);
  write_doubles(ctx.out(Out::h), h);
  write_doubles(ctx.out(Out::c), c);
  write_doubles(ctx.out(Out::activations), activations);
  write_doubles(ctx.out(Out::cells), cells);
}

void reference_recurrent_vjp(const KernelContext& ctx) {
  using In = RecurrentVjpIn;
  using Out = RecurrentVjpOut;
  const auto& a = ctx.attrs<RecurrentAttrs>();
  const auto [batch, steps, n, gates, wide, kept, lstm] =
      RecurrentSizes(ctx.in(In::y).meta.shape, a.cell);
  const int64_t states = batch * n, all = batch * steps * n, cell_states = lstm ? states : 0;
  const Scratch<int64_t> lengths = sequence_lengths(ctx, In::lengths, batch, steps);
  const Scratch<double> weight = to_doubles(ctx.in(In::weight)), y = to_doubles(ctx.in(In::y));
  const Scratch<double> h0 = doubles_or_zeros(ctx, In::h0, states);
  const Scratch<double> c0 = doubles_or_zeros(ctx, In::c0, cell_states);
  const Scratch<double> activations = to_doubles(ctx.in(In::activations));
  const Scratch<double> cells = to_doubles(ctx.in(In::cells));
  const Scratch<double> grad_y = doubles_or_zeros(ctx, In::grad_y, all);
  const Scratch<double> more = doubles_or_zeros(ctx, In::grad_activations, batch * steps * kept);
  const Scratch<double> grad_cells = doubles_or_zeros(ctx, In::grad_cells, lstm ? all : 0);
  Scratch<double> dh = doubles_or_zeros(ctx, In::grad_h, states);
  Scratch<double> dc = doubles_or_zeros(ctx, In::grad_c, cell_states);
  Scratch<double> dx(batch * steps * wide, 0.0), dproduct(wide), dweight(wide * n, 0.0);
  Scratch<double> dbias(ctx.out(Out::bias).meta.size(), 0.0);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t s = lengths[b]; s-- > 0;) {
      const int64_t at = b * steps + (a.reverse ? lengths[b] - 1 - s : s);
      const int64_t before = (a.reverse ? at + 1 : at - 1) * n;
      const double* h_before = s == 0 ? h0.data() + b * n : y.data() + before;
      double* const dh_now = dh.data() + b * n;
      Reverse r{a.cell,
                n,
                y.data() + at * n,
                activations.data() + at * kept,
                nullptr,
                h_before,
                nullptr,
                more.data() + at * kept,
                dh_now,
                nullptr,
                dx.data() + at * wide,
                dproduct.data()};
      if (lstm) {
        r.c = cells.data() + at * n;
        r.c_before = s == 0 ? c0.data() + b * n : cells.data() + before;
        r.dc = dc.data() + b * n;
      }
      for (int64_t j = 0; j < n; ++j) {
        dh_now[j] += grad_y[at * n + j];
        if (lstm) r.dc[j] += grad_cells[at * n + j];
        reverse_unit(r, j);
      }
      for (int64_t i = 0; i < wide; ++i) {
        if (dbias.size()) dbias[i] += dproduct[i];
        for (int64_t k = 0; k < n; ++k) {
          dh_now[k] += dproduct[i] * weight[i * n + k];
          dweight[i * n + k] += dproduct[i] * h_before[k];
        }
      }
    }
  }
  write_doubles(ctx.out(Out::gates), dx);
  write_doubles(ctx.out(Out::weight), dweight);
  write_doubles(ctx.out(Out::bias), dbias);
  if (ctx.has(In::h0)) write_doubles(ctx.out(Out::h0), dh);
  if (ctx.has(In::c0)) write_doubles(ctx.out(Out::c0), dc);
}

}  // namespace thalweg
