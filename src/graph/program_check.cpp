// A replay beside the eager call that it stands for.

#include <algorithm>
#include <cstring>

#include "base/fail.h"
#include "graph/program.h"

namespace thalweg {
namespace {

size_t size_in_bytes(const Tensor& t) {
  return static_cast<size_t>(t.size()) * item_size(t.dtype());
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.impl()->data, b.impl()->data, size_in_bytes(a)) == 0;
}

// The first element, row-major, in which they differ.
size_t first_difference(const Tensor& a, const Tensor& b) {
  const auto* pa = static_cast<const std::byte*>(a.impl()->data);
  const auto* pb = static_cast<const std::byte*>(b.impl()->data);
  return static_cast<size_t>(std::mismatch(pa, pa + size_in_bytes(a), pb).first - pa) /
         item_size(a.dtype());
}

}  // namespace

Tensor bytes_of(const Storage& storage) {
  const Tensor copy =
      Tensor::empty({static_cast<int64_t>(storage.bytes())}, {DType::u8, storage.device()});
  copy_bytes(storage.device(), copy.impl()->data, storage.device(), storage.data(),
             storage.bytes());
  return copy;
}

void put_bytes(Storage& storage, const Tensor& bytes) {
  copy_bytes(storage.device(), storage.data(), storage.device(), bytes.impl()->data,
             storage.bytes());
}

std::vector<Storage*> Program::changed(std::span<const TensorImpl* const> arguments) const {
  std::vector<Storage*> list = bumps_;
  for (const Slot& slot : argument_slots_) {
    if (slot.written) list.push_back(arguments[graph_.buffers[slot.buffer].index]->storage.get());
  }
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::vector<Tensor> Program::state(std::span<const TensorImpl* const> arguments) const {
  std::vector<Tensor> copies;
  for (const Storage* s : changed(arguments)) copies.push_back(bytes_of(*s));
  return copies;
}

std::string Program::compare(const Trace& trace, std::span<const TensorImpl* const> arguments,
                             const std::vector<Tensor>& before, RandomState random) {
  const std::vector<Storage*> storages = changed(arguments);
  const std::vector<Tensor> after = state(arguments);
  const RandomState random_after = default_random_state();
  for (size_t i = 0; i < storages.size(); ++i) put_bytes(*storages[i], before[i]);
  set_default_random_state(random);
  bind_arguments(arguments, true);
  for (Slot& slot : gradient_slots_) bind_gradient(slot);
  bind_results();
  std::string found = compare_steps(trace);
  for (Slot& slot : result_slots_) slot.made.reset();
  for (size_t i = 0; i < storages.size(); ++i) {
    if (found.empty() && !same_bits(bytes_of(*storages[i]), after[i]))
      found = "what it leaves in a tensor of someone else differs";
    put_bytes(*storages[i], after[i]);
  }
  set_default_random_state(random_after);
  return found;
}

std::string Program::compare_steps(const Trace& trace) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const PlanRecord& r = graph_.records[step.record];
    if (r.kind == TraceStep::Kind::draw) run_draw(r);
    if (!step.run) continue;
    run_step(i);
    if (r.origin == kNoIndex) continue;
    const std::span<const Tensor> wanted = trace.captured(r.origin);
    for (size_t o = 0; o < wanted.size(); ++o) {
      const Tensor got = row_major_copy(step.context.out(o));
      if (same_bits(got, wanted[o])) continue;
      return fmt::format("record {} ({}), output {}, differs from element {} of {} on", i,
                         r.op->name, o, first_difference(got, wanted[o]), to_string(got.shape()));
    }
  }
  return {};
}

}  // namespace thalweg
