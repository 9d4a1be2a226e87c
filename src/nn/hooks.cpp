#include <thalweg/graph/plan.h>
#include <thalweg/nn/hooks.h>
#include <thalweg/ops/call.h>

namespace thalweg::nn {

// Hooks may add and remove hooks: each call runs those that were there when it began.
Tensor HookList::run(Module& module, std::span<const Tensor> inputs, FunctionRef<Tensor()> body) {
  const auto entries = entries_;
  if (Tracer* tracer = thread_mode().tracer; tracer && !entries.empty())
    tracer->refuse("a module's hooks run on the host");
  for (const auto& entry : entries) {
    if (entry->before) entry->before(module, inputs);
  }
  Tensor output = body();
  for (const auto& entry : entries) {
    if (entry->after) entry->after(module, inputs, output);
  }
  return output;
}

uint64_t HookList::add(PreHook before, Hook after) {
  invalidate_plans();  // that know of no hooks
  entries_.push_back(
      std::make_shared<const Entry>(Entry{next_id_, std::move(before), std::move(after)}));
  return next_id_++;
}

void HookList::remove(uint64_t id) {
  invalidate_plans();  // what could not be planned for hooks perhaps can now
  std::erase_if(entries_, [id](const auto& entry) { return entry->id == id; });
}

HookHandle& HookHandle::operator=(HookHandle&& other) noexcept {
  detach();
  list_ = std::move(other.list_);
  id_ = other.id_;
  return *this;
}

void HookHandle::detach() noexcept {
  if (const auto list = list_.lock()) list->remove(id_);
  list_.reset();
}

}  // namespace thalweg::nn
