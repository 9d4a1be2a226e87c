// LSTM, GRU and Elman layers over whole sequences.

#include "ops/recurrent.h"

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/recurrent.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "ops/index_values.h"
#include "ops/infer.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

using In = RecurrentIn;
using Out = RecurrentOut;
using VjpIn = RecurrentVjpIn;
using VjpOut = RecurrentVjpOut;

void require_shape(const InferContext& ctx, size_t i, const Shape& expected, const char* what) {
  if (!ctx.has(i)) return;
  if (ctx.in(i).shape == expected) return;
  fail_invalid("{}: {} of shape {}; expected {}", ctx.op().name, what, to_string(ctx.in(i).shape),
               to_string(expected));
}

// H, from the recurrent weight.
int64_t units_of(const InferContext& ctx, size_t weight, RecurrentCell cell) {
  require_floating(ctx, weight);
  require_dims(ctx, weight, 2, "[gates * units, units]");
  const Shape& shape = ctx.in(weight).shape;
  if (shape[0] != gate_count(cell) * shape[1]) {
    fail_invalid("{}: weight of shape {}; a cell with {} gates takes [{} * units, units]",
                 ctx.op().name, to_string(shape), gate_count(cell), gate_count(cell));
  }
  return shape[1];
}

// [B, T, n], laid out time by time if `like` is.
void set_sequences(TensorMeta& out, const TensorMeta& like, int64_t n) {
  const int64_t batch = like.shape[0], steps = like.shape[1];
  out.set_row_major({batch, steps, n});
  if (like.strides[1] > like.strides[0]) out.strides = {n, batch * n, 1};
}

void infer_recurrent(const InferContext& ctx) {
  const auto& a = ctx.attrs<RecurrentAttrs>();
  require_floating(ctx, In::gates);
  require_dims(ctx, In::gates, 3, "[batch, time, gates * units]");
  for (size_t i : {In::weight, In::bias, In::h0, In::c0}) {
    if (ctx.has(i)) require_same_dtype(ctx, In::gates, i);
  }
  const TensorMeta& gates = ctx.in(In::gates);
  const int64_t batch = gates.shape[0], n = units_of(ctx, In::weight, a.cell);
  const int64_t wide = gate_count(a.cell) * n;
  require_shape(ctx, In::gates, {batch, gates.shape[1], wide}, "the input's gates");
  require_shape(ctx, In::bias, {wide}, "bias");
  require_shape(ctx, In::h0, {batch, n}, "h0");
  require_shape(ctx, In::c0, {batch, n}, "c0");
  require_shape(ctx, In::lengths, {batch}, "lengths");
  if (ctx.has(In::lengths)) require_index(ctx, In::lengths);
  const bool lstm = a.cell == RecurrentCell::lstm;
  if (ctx.has(In::c0) && !lstm) {
    fail_invalid("{}: c0 given for a cell without a cell state; only lstm has one", ctx.op().name);
  }
  for (size_t i = 0; i < Out::count; ++i) ctx.out(i).dtype = gates.dtype;
  set_sequences(ctx.out(Out::y), gates, n);
  ctx.out(Out::h).set_row_major({batch, n});
  ctx.out(Out::c).set_row_major({batch, lstm ? n : 0});
  set_sequences(ctx.out(Out::activations), gates, activation_count(a.cell) * n);
  set_sequences(ctx.out(Out::cells), gates, lstm ? n : 0);
}

void infer_recurrent_vjp(const InferContext& ctx) {
  const TensorMeta &y = ctx.in(VjpIn::y), &weight = ctx.in(VjpIn::weight);
  const int64_t batch = y.shape[0], n = y.shape[2], wide = weight.shape[0];
  for (size_t i = 0; i < VjpOut::count; ++i) ctx.out(i).dtype = y.dtype;
  set_sequences(ctx.out(VjpOut::gates), y, wide);
  ctx.out(VjpOut::weight).set_row_major({wide, n});
  ctx.out(VjpOut::bias).set_row_major({ctx.has(VjpIn::bias) ? wide : 0});
  ctx.out(VjpOut::h0).set_row_major({batch, ctx.has(VjpIn::h0) ? n : 0});
  ctx.out(VjpOut::c0).set_row_major({batch, ctx.has(VjpIn::c0) ? n : 0});
}

const Op kRecurrentVjp{
    .name = "recurrent_vjp",
    .doc = "The gradients of recurrent with respect to gates, weight, bias and first states.",
    .inputs =
        "weight, bias?, h0?, c0?, lengths?, y, activations, cells, grad_y?, grad_h?, "
        "grad_c?, grad_activations?, grad_cells?",
    .attrs = attr_info<RecurrentAttrs>,
    .flags = {.internal = true},
    .outputs = VjpOut::count,
    .infer = infer_recurrent_vjp,
    .no_gradient = "it is a fused gradient, used where no second one is wanted",
    .reference = reference_recurrent_vjp};

void vjp_recurrent(VjpContext& ctx) {
  if (ctx.creates_graph()) return recurrent_gradients_by_ops(ctx);
  const TensorImpl* in[VjpIn::count] = {};
  for (size_t i = In::weight; i < In::count; ++i) in[i - In::weight] = ctx.input(i).impl();
  in[VjpIn::y] = ctx.output(Out::y).impl();
  in[VjpIn::activations] = ctx.output(Out::activations).impl();
  in[VjpIn::cells] = ctx.output(Out::cells).impl();
  for (size_t i = 0; i < Out::count; ++i) {
    if (ctx.has_grad(i) && ctx.output_meta(i).size() > 0)
      in[VjpIn::grad_y + i] = ctx.grad(i).impl();
  }
  const std::vector<Tensor> results = call_many(kRecurrentVjp, &ctx.attrs<RecurrentAttrs>(), in);
  for (size_t i = 0; i < VjpOut::count; ++i) {
    if (ctx.needs(i)) ctx.set(i, results[i]);
  }
}

void sample_recurrent(Samples& s) {
  const auto lstm = [](bool reverse) { return RecurrentAttrs{RecurrentCell::lstm, reverse}; };
  const auto gru = [](bool reverse) { return RecurrentAttrs{RecurrentCell::gru, reverse}; };
  const Tensor none;
  const auto lengths = [](std::vector<int64_t> n) {
    const auto count = static_cast<int64_t>(n.size());
    return Tensor::of(std::move(n), {count});
  };
  s.add({s.spread({2, 3, 8}), s.spread({8, 2}), none, none, none, none}, lstm(false));
  s.add({s.spread({3, 4, 8}), s.spread({8, 2}), s.spread({8}), s.spread({3, 2}), s.spread({3, 2}),
         lengths({4, 0, 2})},
        lstm(true));
  s.add({transpose(s.spread({3, 2, 12}), 0, 1), s.spread({12, 3}), none, s.spread({2, 3}), none,
         lengths({1, 3})},
        lstm(false));
  s.add({s.spread({2, 3, 6}), s.spread({6, 2}), s.spread({6}), s.spread({2, 2}), none, none},
        gru(false));
  s.add({s.spread({3, 4, 9}), s.spread({9, 3}), s.spread({9}), s.spread({3, 3}), none,
         lengths({4, 1, 0})},
        gru(true));
  s.add({s.spread({1, 3, 3}), s.spread({3, 1}), none, none, none, lengths({2})}, gru(false));
  s.add({s.spread({2, 3, 4}), s.spread({4, 4}), s.spread({4}), s.spread({2, 4}), none, none},
        RecurrentAttrs{RecurrentCell::tanh, true});
  s.add({s.spread({2, 3, 3}), s.spread({3, 3}), none, none, none, lengths({3, 2})},
        RecurrentAttrs{RecurrentCell::relu, false});
  s.add({s.spread({2, 0, 8}), s.spread({8, 2}), none, s.spread({2, 2}), s.spread({2, 2}), none},
        lstm(false));
  s.add({s.spread({0, 3, 6}), s.spread({6, 2}), none, none, none, none}, gru(false));
  s.add({s.spread({5, 3, 140}, -1, 1), s.spread({140, 35}, -1, 1), none, none, none,
         lengths({3, 1, 2, 0, 3})},
        lstm(true));
  s.add(
      {s.spread({3, 2, 111}, -1, 1), s.spread({111, 37}, -1, 1), s.spread({111}), none, none, none},
      gru(false));
}

constexpr Saves kSaved{62, 25};  // every input but the gates; y, activations and cells

const Op kRecurrent{.name = "recurrent",
                    .doc = "An LSTM, GRU or Elman layer over whole sequences, in one direction.",
                    .inputs = "gates, weight, bias?, h0?, c0?, lengths?",
                    .attrs = attr_info<RecurrentAttrs>,
                    .outputs = Out::count,
                    .infer = infer_recurrent,
                    .vjp = vjp_recurrent,
                    .saves = {kSaved, kSaved, kSaved, kSaved, kSaved},
                    .reference = reference_recurrent,
                    .samples = sample_recurrent};

}  // namespace

int64_t gate_count(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
}

int64_t activation_count(RecurrentCell cell) { return gate_count(cell) == 1 ? 0 : 4; }

RecurrentSizes::RecurrentSizes(const Shape& y, RecurrentCell cell)
    : batch(y[0]),
      steps(y[1]),
      units(y[2]),
      gates(gate_count(cell)),
      wide(gates * units),
      kept(activation_count(cell) * units),
      has_cells(cell == RecurrentCell::lstm) {}

Scratch<int64_t> sequence_lengths(const KernelContext& ctx, size_t i, int64_t batch,
                                  int64_t steps) {
  Scratch<int64_t> lengths(batch, steps);
  if (!ctx.has(i)) return lengths;
  const TensorImpl& given = ctx.in(i);
  visit_dtype(given.meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      for (int64_t b = 0; b < batch; ++b) {
        lengths[b] = static_cast<int64_t>(given.as<T>()[b * given.meta.strides[0]]);
      }
    }
  });
  for (int64_t b = 0; b < batch; ++b) {
    if (lengths[b] >= 0 && lengths[b] <= steps) continue;
    fail_invalid("recurrent: the length of sequence {} is {}; it must be from 0 to {}", b,
                 lengths[b], steps);
  }
  return lengths;
}

RecurrentResult recurrent(RecurrentCell cell, const Tensor& gates, const Tensor& weight,
                          const RecurrentOptions& options) {
  const RecurrentAttrs attrs{cell, options.reverse};
  const TensorImpl* const in[In::count] = {gates.impl(),        weight.impl(),
                                           options.bias.impl(), options.h0.impl(),
                                           options.c0.impl(),   options.lengths.impl()};
  std::vector<Tensor> results = call_many(kRecurrent, &attrs, in);
  return {std::move(results[Out::y]), std::move(results[Out::h]), std::move(results[Out::c])};
}

std::span<const Op* const> recurrent_rows() {
  static constexpr const Op* rows[] = {&kRecurrent, &kRecurrentVjp};
  return rows;
}

}  // namespace thalweg
