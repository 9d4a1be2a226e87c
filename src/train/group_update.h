#pragma once

// The parameters of one group, their states, and the arguments of the row that updates them; kept
// from step to step, so that a step takes no memory.

#include <string>
#include <vector>

#include <thalweg/nn/parameter.h>
#include <thalweg/train/optimizer.h>

#include "train/optimizer_rule.h"
#include "train/row_update.h"

namespace thalweg::train {

class GroupUpdate {
 public:
  struct Slot {
    std::string name;
    nn::Parameter parameter;
    std::vector<Tensor> states = {};  // empty before the first update
    int64_t updates = 0;
    uint64_t seen_backward = 0;  // the backward pass whose gradient was used last
  };

  GroupUpdate(const nn::ParameterList& parameters, optim::Optimizer optimizer);

  const optim::Rule& rule() const { return optimizer_.rule(); }
  const optim::Optimizer& optimizer() const { return optimizer_; }
  std::vector<Slot>& slots() { return slots_; }
  const std::vector<Slot>& slots() const { return slots_; }

  /// Finds out which parameters take part in this step, and their gradients. Throws Error{invalid}
  /// as Trainer::step says.
  void gather(bool ignore_stale);
  /// Makes those gradients dense that have some rows only; before gather().
  void make_dense() const;
  /// The gradients of those that take part; of some, the rows they have.
  std::span<const TensorImpl* const> gradients() const { return all_gradients_; }
  /// True if gradients that have some rows only take part.
  bool has_rows() const { return !rows_.empty(); }
  /// Fills in the numbers of the update and counts it; `settings` lacks what is a parameter's own.
  void prepare(const optim::UpdateSettings& settings);
  /// Updates those that take part, after prepare().
  void run();
  /// The states were replaced: look at everything anew.
  void forget() { active_.clear(); }

  double base_rate = 0;

 private:
  void bind();
  void make_states(Slot& slot, const Tensor& weight) const;
  optim::UpdateSettings own_settings(const Slot& slot, optim::UpdateSettings settings) const;
  void fill_numbers(const optim::UpdateSettings& settings);
  void prepare_rows(const optim::UpdateSettings& settings);
  void count_update(Slot& slot) const;

  optim::Optimizer optimizer_;
  std::vector<Slot> slots_;
  // Of the slots that take part: their numbers in slots_, and where their weights were when the
  // arguments were made.
  std::vector<uint32_t> active_, next_active_;
  std::vector<const TensorImpl*> next_gradients_;
  std::vector<const TensorImpl*> inputs_;
  std::vector<TensorImpl*> outputs_;
  Tensor numbers_;  // [active, columns]
  // Those that take part with some rows.
  std::vector<RowUpdate> rows_;
  std::vector<const TensorImpl*> all_gradients_;
};

}  // namespace thalweg::train
