#pragma once

#include <span>

#include <thalweg/ops/op.h>

namespace thalweg {

/// Operations of one op on these arguments, as NetSummary counts them; 0 for what is in no table.
int64_t op_cost(const Op& op, std::span<const TensorImpl* const> inputs,
                std::span<TensorImpl* const> outputs);

/// Bytes that it reads and writes: of inputs and outputs, each once, but of what indices pick from
/// only as much as they pick.
int64_t op_bytes(const Op& op, std::span<const TensorImpl* const> inputs,
                 std::span<TensorImpl* const> outputs);

}  // namespace thalweg
