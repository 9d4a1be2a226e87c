#pragma once

#include <cstdint>

#include <thalweg/tensor/tensor.h>

namespace thalweg {

/// What a recurrent layer does at each time: the LSTM of Gers et al. 2000, the GRU of Cho et al.
/// 2014 in the form with the reset gate behind the product, and tanh or relu of the sum (Elman
/// 1990).
enum class RecurrentCell : uint8_t { lstm, gru, tanh, relu };

/// Gates of a cell, each with a row of units in weights, biases and inputs, in PyTorch's order:
/// lstm i, f, g, o (input, forget, candidate, output); gru r, z, n (reset, update, candidate).
THALWEG_API int64_t gate_count(RecurrentCell cell);

struct RecurrentOptions {
  Tensor bias = {};      ///< [G H], added to the product of weight and state
  Tensor h0 = {};        ///< [B, H], the state before the first time; zeros if undefined
  Tensor c0 = {};        ///< [B, H], the cell state, of lstm only; zeros if undefined
  Tensor lengths = {};   ///< [B] integers from 0 to T; undefined: all are T
  bool reverse = false;  ///< from each sequence's last time to its first
};

struct RecurrentResult {
  Tensor y;  ///< [B, T, H], the state after each time; 0 from a sequence's length on
  Tensor h;  ///< [B, H], the state after the last time of each sequence
  Tensor c;  ///< [B, H], the cell state of lstm; [B, 0] of others
};

/// One direction of one recurrent layer over whole sequences, with H units and G = gate_count(cell)
/// gates. `gates` [B, T, G H] is the input's part, linear(x, input weights, bias), made for all
/// times at once; `weight` [G H, H] is multiplied with the state. Sequences laid out time by time
/// are as fast, as a view with the first two axes swapped. A state stays as it is from its
/// sequence's length on, whatever the padding holds. Throws Error{invalid} for a length outside
/// [0, T].
THALWEG_API RecurrentResult recurrent(RecurrentCell cell, const Tensor& gates, const Tensor& weight,
                                      const RecurrentOptions& options = {});

}  // namespace thalweg
