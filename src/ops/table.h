#pragma once

#include <span>

#include <thalweg/ops/op.h>

namespace thalweg {

/// The rows of one family, a file of src/ops.
using RowSpan = std::span<const Op* const> (*)();

std::span<const Op* const> pointwise_rows();
std::span<const Op* const> select_rows();
std::span<const Op* const> view_rows();
std::span<const Op* const> reduce_rows();
std::span<const Op* const> extreme_rows();
std::span<const Op* const> logic_rows();
std::span<const Op* const> moment_rows();
std::span<const Op* const> norm_reduction_rows();
std::span<const Op* const> product_rows();
std::span<const Op* const> scan_rows();
std::span<const Op* const> sort_rows();
std::span<const Op* const> softmax_rows();
std::span<const Op* const> softmax_cross_entropy_rows();
std::span<const Op* const> sigmoid_cross_entropy_rows();
std::span<const Op* const> batch_norm_rows();
std::span<const Op* const> layer_norm_rows();
std::span<const Op* const> group_norm_rows();
std::span<const Op* const> linear_rows();
std::span<const Op* const> recurrent_rows();
std::span<const Op* const> attention_rows();
std::span<const Op* const> rope_rows();
std::span<const Op* const> transfer_rows();
std::span<const Op* const> conv_rows();
std::span<const Op* const> pool_rows();
std::span<const Op* const> index_rows();
std::span<const Op* const> sparse_rows();
std::span<const Op* const> shape_rows();
std::span<const Op* const> random_rows();
std::span<const Op* const> optimizer_rows();

// One family a line.
// clang-format off
inline constexpr RowSpan kFamilies[] = {
    pointwise_rows,
    select_rows,
    view_rows,
    reduce_rows,
    extreme_rows,
    logic_rows,
    moment_rows,
    norm_reduction_rows,
    product_rows,
    scan_rows,
    sort_rows,
    softmax_rows,
    softmax_cross_entropy_rows,
    sigmoid_cross_entropy_rows,
    batch_norm_rows,
    layer_norm_rows,
    group_norm_rows,
    linear_rows,
    recurrent_rows,
    attention_rows,
    rope_rows,
    transfer_rows,
    conv_rows,
    pool_rows,
    index_rows,
    sparse_rows,
    shape_rows,
    random_rows,
    optimizer_rows,
};
// clang-format on

}  // namespace thalweg
