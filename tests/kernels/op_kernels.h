#pragma once

// Runs every cpu kernel of an op on the same inputs and holds it against the reference.

#include <vector>

#include <thalweg/ops/op.h>

namespace thalweg {

/// Distance allowed between a kernel's element and the reference's:
/// absolute + relative * |reference|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

/// Fails the test unless every kernel that takes these arguments agrees with the reference, and
/// gives the same bits with 1 to 4 threads. Returns the number of kernels that ran besides the
/// reference.
int expect_kernels_agree(const char* op, const void* attrs, const std::vector<Tensor>& inputs,
                         Tolerance tolerance);

}  // namespace thalweg
