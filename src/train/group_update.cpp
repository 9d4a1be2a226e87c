#include "train/group_update.h"

#include <cstring>

#include <thalweg/graph/autograd.h>

#include "base/fail.h"
#include "graph/leaf.h"

namespace thalweg::train {
namespace {

[[noreturn, gnu::cold]] void fail_stale(const std::string& name) {
  fail_invalid(
      "trainer: {} has no gradient newer than the last step; it was not part of the loss, or "
      "backward() was not called; pass {{.ignore_stale_grad = true}} to leave such parameters out",
      name);
}

}  // namespace

GroupUpdate::GroupUpdate(const nn::ParameterList& parameters, optim::Optimizer optimizer)
    : base_rate(optimizer.learning_rate()), optimizer_(std::move(optimizer)) {
  for (const nn::NamedParameter& item : parameters) {
    if (item.parameter.differentiable()) slots_.push_back({item.name, item.parameter});
  }
  active_.reserve(slots_.size());
  next_active_.reserve(slots_.size());
  next_gradients_.reserve(slots_.size());
}

void GroupUpdate::gather(bool ignore_stale) {
  next_active_.clear();
  next_gradients_.clear();
  rows_.clear();
  all_gradients_.clear();
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.parameter.grad_req() == GradReq::null) continue;
    const Leaf& leaf = leaf_of(*slot.parameter.data().impl());
    if (leaf.last_backward == slot.seen_backward || !leaf.has_gradient()) {
      if (!ignore_stale) fail_stale(slot.name);
      continue;
    }
    if (leaf.rows.defined()) {
      rows_.push_back({i, leaf.rows});
      all_gradients_.push_back(leaf.rows.rows.impl());
      continue;
    }
    next_active_.push_back(i);
    next_gradients_.push_back(leaf.grad.impl());
    all_gradients_.push_back(leaf.grad.impl());
  }
}

void GroupUpdate::make_dense() const {
  for (const Slot& slot : slots_) {
    if (!slot.parameter.has_data() || slot.parameter.grad_req() == GradReq::null) continue;
    leaf_of(*slot.parameter.data().impl()).make_dense(slot.parameter.shape());
  }
}

void GroupUpdate::prepare(const optim::UpdateSettings& settings) {
  prepare_rows(settings);
  if (next_active_.empty()) {
    active_.clear();
    return;
  }
  bool bound = active_ == next_active_;
  const size_t n = next_active_.size();
  for (size_t k = 0; bound && k < n; ++k) {
    bound = outputs_[k] == slots_[next_active_[k]].parameter.data().impl();
  }
  if (!bound) bind();
  std::copy(next_gradients_.begin(), next_gradients_.end(),
            inputs_.begin() + 1 + static_cast<ptrdiff_t>(n));
  fill_numbers(settings);
  for (const uint32_t i : active_) count_update(slots_[i]);
}

void GroupUpdate::prepare_rows(const optim::UpdateSettings& settings) {
  for (RowUpdate& update : rows_) {
    Slot& slot = slots_[update.slot];
    if (slot.states.empty()) make_states(slot, slot.parameter.data());
    update.numbers =
        Tensor::zeros({1, static_cast<int64_t>(rule().columns())}, {.dtype = DType::f64});
    rule().fill(own_settings(slot, settings), update.numbers.impl()->as<double>());
    count_update(slot);
  }
}

void GroupUpdate::count_update(Slot& slot) const {
  ++slot.updates;
  slot.seen_backward = leaf_of(*slot.parameter.data().impl()).last_backward;
}

void GroupUpdate::run() {
  if (!active_.empty()) rule().run(static_cast<int64_t>(active_.size()), inputs_, outputs_);
  for (const RowUpdate& update : rows_) {
    const Slot& slot = slots_[update.slot];
    update.run(rule(), slot.parameter.data(), slot.states);
  }
}

void GroupUpdate::bind() {
  const size_t n = next_active_.size(), states = rule().states().size();
  active_.clear();
  inputs_.assign(1 + (2 + states) * n, nullptr);
  outputs_.assign((1 + states) * n, nullptr);
  numbers_ = Tensor::zeros({static_cast<int64_t>(n), static_cast<int64_t>(rule().columns())},
                           {.dtype = DType::f64});
  inputs_[0] = numbers_.impl();
  for (size_t k = 0; k < n; ++k) {
    Slot& slot = slots_[next_active_[k]];
    const Tensor& weight = slot.parameter.data();
    if (slot.states.empty()) make_states(slot, weight);
    inputs_[1 + k] = outputs_[k] = weight.impl();
    inputs_[1 + n + k] = next_gradients_[k];
    for (size_t s = 0; s < states; ++s) {
      inputs_[1 + (2 + s) * n + k] = outputs_[(1 + s) * n + k] = slot.states[s].impl();
    }
  }
  rule().check(static_cast<int64_t>(n), inputs_);
  active_ = next_active_;
}

void GroupUpdate::make_states(Slot& slot, const Tensor& weight) const {
  const DType dtype = weight.dtype() == DType::f64 ? DType::f64 : DType::f32;
  for (size_t s = 0; s < rule().states().size(); ++s) {
    slot.states.push_back(
        Tensor::full(weight.shape(), rule().initial(s), {dtype, weight.device()}));
  }
}

optim::UpdateSettings GroupUpdate::own_settings(const Slot& slot,
                                                optim::UpdateSettings settings) const {
  settings.learning_rate *= slot.parameter.lr_mult();
  settings.decay_factor = slot.parameter.wd_mult();
  settings.updates = slot.updates;
  return settings;
}

// Neighbours mostly want the same numbers, whose making may take roots and powers.
void GroupUpdate::fill_numbers(const optim::UpdateSettings& settings) {
  const size_t columns = rule().columns();
  double* row = numbers_.impl()->as<double>();
  optim::UpdateSettings last;
  for (size_t k = 0; k < active_.size(); ++k, row += columns) {
    const Slot& slot = slots_[active_[k]];
    const optim::UpdateSettings own = own_settings(slot, settings);
    if (k > 0 && own == last) {
      std::memcpy(row, row - columns, columns * sizeof(double));
    } else {
      rule().fill(own, row);
      last = own;
    }
  }
}

}  // namespace thalweg::train
