#pragma once

// Kernels that tell which part of their output is there, so that a plan goes on with it while it is
// in the cache.

#include <thalweg/base/function_ref.h>
#include <thalweg/ops/op.h>

namespace thalweg {

/// Elements [begin, end) of the row-major output are there. Called from any thread, once for each
/// element.
using PartReady = FunctionRef<void(int64_t begin, int64_t end)>;
using RunKernel = void (*)(const KernelContext&);
using RunByParts = void (*)(const KernelContext&, PartReady);

/// `by_parts` gives the same bits as the kernel `run`.
void add_by_parts(RunKernel run, RunByParts by_parts);
/// That of a kernel, or null.
RunByParts by_parts(RunKernel run);

}  // namespace thalweg
