#pragma once

// What the host tells kernels of where elements are.

#include <cstdint>

namespace thalweg::cuda {

/// Positions that some operands walk together, the innermost dimension first. Strides are in bytes;
/// 0 repeats an element.
template <int kOperands>
struct Walk {
  static constexpr int kMostDims = 8;

  int64_t count;  // of positions
  int32_t dims;   // at least 1
  int64_t shape[kMostDims];
  int64_t strides[kMostDims][kOperands];
};

/// Operand 0 is the output; the others are the inputs, broadcast to its shape.
struct PointwiseArgs {
  static constexpr int kMostOperands = 5;

  char* data[kMostOperands];
  Walk<kMostOperands> walk;
  double numbers[2];  // attributes of the op
};

/// Operands of point-wise ops in a row, inputs first; each has as many neighbouring elements, or
/// one.
struct FusedArgs {
  static constexpr int kMostOperands = 60;
  static constexpr int kMostParts = 12;

  char* data[kMostOperands];
  int64_t count;
  double numbers[kMostParts][2];  // attributes of the ops
};

/// Each result is made of the elements of the input that `folded` walks from its place.
struct ReduceArgs {
  char* out;
  const char* in;
  Walk<2> results;  // out, in
  Walk<1> folded;
};

/// Lanes along an axis; operand 0 is the output.
struct LaneArgs {
  static constexpr int kMostOperands = 5;

  char* data[kMostOperands];
  Walk<kMostOperands> lanes;
  int64_t n;                     // elements of a lane
  int64_t steps[kMostOperands];  // from one to the next, in bytes
  double label_smoothing;
  int64_t ignore_label;
};

/// Products of matrices [m, k] and [k, n], with strides in bytes; results are row-major.
struct ProductArgs {
  char* out;
  const char* a;
  const char* b;
  const char* bias;  // [n] or null, added to each row
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column, bias_step;
  Walk<3> batches;  // out, a, b
};

/// One tensor of an update. Absent states are null.
struct UpdateTensor {
  static constexpr int kMostStates = 3;

  int64_t count;
  const char* weight;
  const char* gradient;
  char* new_weight;
  const char* state[kMostStates];
  char* new_state[kMostStates];
};

/// Some of an update's tensors.
struct UpdateArgs {
  static constexpr int kMostTensors = 40;  // the arguments of a kernel take at most 4 KiB

  const char* numbers;  // of the first tensor
  int32_t tensors;
  UpdateTensor tensor[kMostTensors];
};

/// Some of the tensors of a norm.
struct NormArgs {
  static constexpr int kMostTensors = 200;
  static constexpr int kPartialSums = 256;  // as many blocks

  double* out;
  double* partial_sums;
  int32_t tensors;
  bool starts;  // there are no partial sums yet
  const char* data[kMostTensors];
  int64_t count[kMostTensors];
};

}  // namespace thalweg::cuda
