#pragma once

// The sources of point-wise kernels, as text: each row names a functor of device/pointwise.cuh or
// of pointwise.def, and is compiled for the dtypes that come.

#include <optional>
#include <span>
#include <string>

#include <thalweg/ops/op.h>

namespace thalweg::cuda {

/// A row whose inputs have one dtype, which the output shares or which is bool.
struct PointwiseText {
  const char* op;
  const char* functor;
  int inputs;
  DType last;  // the dtypes of the enum up to this one are taken: bf16, u8, boolean
  bool gives_bool;
};

/// The rows that pointwise.def makes, in its order, and with its gradients; then clip and
/// logical_not.
std::span<const PointwiseText> pointwise_texts();

/// The functor of a row for results of a dtype, also for cast and where; none if it is no row that
/// is compiled.
std::optional<std::string> functor_of(const Op& op, DType out);

/// The call that a kernel makes of a functor.
std::string pointwise_call(const std::string& functor, DType out, std::span<const DType> in);

}  // namespace thalweg::cuda
