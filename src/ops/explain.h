#pragma once

#include <string>

#include <thalweg/ops/call.h>

namespace thalweg {

/// True if input i of the row's list carries a '?' or belongs to a list of any number.
bool is_optional_input(const Op& op, size_t i);

/// "f32 [64, 784], f32 [64, 784], none".
std::string describe_inputs(const KernelContext& context);

/// Writes which kernel was chosen for which inputs, and why others were not.
void log_choice(const KernelContext& context, Device device);

}  // namespace thalweg
