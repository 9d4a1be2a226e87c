#pragma once

// Inference that many rows share.

#include <thalweg/ops/op.h>

namespace thalweg {

/// The output has input 0's shape and dtype, and its strides when they are dense.
void infer_like_input(const InferContext& ctx);
/// Broadcast shape of all inputs; they must have one dtype, which the output takes. Strides follow
/// the first dense input of the full shape.
void infer_broadcast(const InferContext& ctx);
/// The broadcast shape of the named inputs, and the strides of the first dense one of that shape.
void infer_broadcast_of(const InferContext& ctx, std::initializer_list<size_t> inputs);
/// As infer_broadcast, giving bool.
void infer_broadcast_bool(const InferContext& ctx);

/// Throws Error{invalid}: the op needs floating elements in input i.
void require_floating(const InferContext& ctx, size_t i);
/// Throws Error{invalid}: the op does not take bool in input i.
void require_number(const InferContext& ctx, size_t i);
/// Throws Error{invalid} unless inputs a and b have one dtype.
void require_same_dtype(const InferContext& ctx, size_t a, size_t b);
/// Throws Error{invalid} unless input i has `dims` dimensions; `expected` names them, "[N, C, W]".
void require_dims(const InferContext& ctx, size_t i, size_t dims, const char* expected);

}  // namespace thalweg
