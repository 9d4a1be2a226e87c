#pragma once

#include <thalweg/ops/op.h>
#include <thalweg/ops/recurrent.h>
#include <thalweg/ops/vjp.h>

#include "device/scratch.h"

namespace thalweg {

struct RecurrentAttrs {
  RecurrentCell cell = RecurrentCell::lstm;
  bool reverse = false;
  static auto fields() {
    static constexpr const char* kCells[] = {"lstm", "gru", "tanh", "relu"};
    return std::tuple{attr("cell", &RecurrentAttrs::cell, "what is done at each time", kCells),
                      attr("reverse", &RecurrentAttrs::reverse, "from the last time to the first")};
  }
};

/// Inputs and outputs of the row. Activations are what the gradient is made from: lstm's gates i,
/// f, g, o after their functions, gru's r, z, n and the product of the candidate before r.
struct RecurrentIn {
  enum { gates, weight, bias, h0, c0, lengths, count };
};
struct RecurrentOut {
  enum { y, h, c, activations, cells, count };
};
/// Those of the row of its gradient.
struct RecurrentVjpIn {
  enum {
    weight,
    bias,
    h0,
    c0,
    lengths,
    y,
    activations,
    cells,
    grad_y,
    grad_h,
    grad_c,
    grad_activations,
    grad_cells,
    count
  };
};
struct RecurrentVjpOut {
  enum { gates, weight, bias, h0, c0, count };
};

struct RecurrentSizes {
  /// Of the output y [batch, steps, units].
  RecurrentSizes(const Shape& y, RecurrentCell cell);

  int64_t batch, steps, units;
  int64_t gates;   // of a unit
  int64_t wide;    // gates of all units
  int64_t kept;    // activations of all units
  bool has_cells;  // states beside the units' outputs
};

/// Activations kept for each unit.
int64_t activation_count(RecurrentCell cell);

/// The sequences' lengths from input i, T where there is none. Throws Error{invalid} for one
/// outside [0, T].
Scratch<int64_t> sequence_lengths(const KernelContext& ctx, size_t i, int64_t batch, int64_t steps);

/// The gradients in terms of ops, time by time.
void recurrent_gradients_by_ops(VjpContext& ctx);

void reference_recurrent(const KernelContext& ctx);
void reference_recurrent_vjp(const KernelContext& ctx);

}  // namespace thalweg
