#pragma once

#include <thalweg/ops/op.h>

namespace thalweg {

/// Registers every kernel that was built in; defined by the composition root, src/thalweg.cpp.
/// Called once, at the first call of an op.
void compose();

/// Puts the reference kernels at the end of the cpu's lists; the last step of compose().
void add_reference_kernels();

/// Adds a kernel behind those already in the list of op `name`.
void add_kernel(const char* name, DeviceKind device, const Kernel& kernel);

}  // namespace thalweg
