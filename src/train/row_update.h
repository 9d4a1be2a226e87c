#pragma once

#include <span>

#include <thalweg/ops/row_gradient.h>

#include "train/optimizer_rule.h"

namespace thalweg::train {

/// The update of one weight whose gradient has some rows only. It touches these rows of the weight
/// and of its states and no others, in time that follows their number.
struct RowUpdate {
  uint32_t slot = 0;  // of the weight, in its group
  RowGradient gradient;
  Tensor numbers = {};  // f64 [1, columns of the rule]

  void run(const optim::Rule& rule, const Tensor& weight, std::span<const Tensor> states) const;
};

}  // namespace thalweg::train
