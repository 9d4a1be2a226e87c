#include "train/row_update.h"

#include <vector>

#include "ops/row_gradient.h"

namespace thalweg::train {

// The rows are taken out, updated as a weight of their own, and put back.
void RowUpdate::run(const optim::Rule& rule, const Tensor& weight,
                    std::span<const Tensor> states) const {
  std::vector<Tensor> changed{gather_slices(weight, gradient)};
  for (const Tensor& state : states) changed.push_back(gather_slices(state, gradient));
  std::vector<const TensorImpl*> inputs{numbers.impl(), changed[0].impl(), gradient.rows.impl()};
  for (size_t i = 1; i < changed.size(); ++i) inputs.push_back(changed[i].impl());
  std::vector<TensorImpl*> outputs;
  for (const Tensor& t : changed) outputs.push_back(t.impl());
  rule.check(1, inputs);
  rule.run(1, inputs, outputs);
  scatter_slices(changed[0], gradient, weight);
  for (size_t i = 0; i < states.size(); ++i) scatter_slices(changed[i + 1], gradient, states[i]);
}

}  // namespace thalweg::train
