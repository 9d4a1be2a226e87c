#pragma once

// Compiles kernels when the program runs. The library is opened at the first use: it is large, and
// a program that computes on the cpu need not wait for it.

#include <string>

#include <thalweg/tensor/dtype.h>

namespace thalweg::cuda {

/// The name of a kernel that is alone in its source.
inline constexpr const char* kKernelName = "kernel";

/// Null where kernels can be compiled here, with or without a GPU, else why not.
const char* why_no_compiler();

/// Code of `source`, which may include the sources of this folder and what they share with the cpu:
/// PTX for an architecture such as "compute_75", binary code for one such as "sm_90". Throws
/// Error{internal} with the compiler's log.
std::string compile(const std::string& source, const std::string& architecture);

/// A source whose kernel calls `call`, a function of device/<header>.cuh with its template
/// arguments, on its one argument, an `args` of device/walk.h.
std::string kernel_source(const char* header, const char* args, const std::string& call);

/// The element type of a dtype in such sources.
const char* element_type(DType dtype);

}  // namespace thalweg::cuda
