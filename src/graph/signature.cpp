#include "graph/signature.h"

#include <thalweg/ops/call.h>

#include "base/fail.h"
#include "graph/leaf.h"
#include "tensor/same.h"

namespace thalweg::detail {
namespace {

size_t first_with_memory(std::span<const TensorImpl* const> arguments, size_t i) {
  for (size_t k = 0; k < i; ++k) {
    if (arguments[k] && arguments[k]->storage == arguments[i]->storage) return k;
  }
  return i;
}

ptrdiff_t distance(const TensorImpl& from, const TensorImpl& to) {
  return static_cast<const char*>(to.data) - static_cast<const char*>(from.data);
}

}  // namespace

void add_mode(PlanArguments& arguments) { arguments.values.push_back(thread_mode().training); }

Signature::Signature(const PlanArguments& arguments) : values_(arguments.values) {
  for (size_t i = 0; i < arguments.tensors.size(); ++i)
    keys_.push_back(key_of(arguments.tensors, i));
}

Signature::Key Signature::key_of(std::span<const TensorImpl* const> arguments, size_t i) {
  Key key;
  key.shares = i;
  if (!arguments[i]) return key;
  const TensorImpl& t = *arguments[i];
  key.defined = true;
  key.meta = t.meta;
  key.req = req_of(t);
  if (key.req != GradReq::null) {
    key.leaf = IntrusivePtr<TensorImpl>::share(const_cast<TensorImpl*>(&t));
  }
  key.shares = first_with_memory(arguments, i);
  key.distance = distance(*arguments[key.shares], t);
  return key;
}

bool Signature::same(const Key& key, std::span<const TensorImpl* const> arguments, size_t i) {
  if (key.defined != static_cast<bool>(arguments[i])) return false;
  if (!key.defined) return true;
  const TensorImpl& t = *arguments[i];
  return same_layout(t.meta, key.meta) && t.meta.dtype == key.meta.dtype &&
         t.meta.device == key.meta.device && req_of(t) == key.req &&
         (key.req == GradReq::null || key.leaf.get() == &t) &&
         first_with_memory(arguments, i) == key.shares &&
         distance(*arguments[key.shares], t) == key.distance;
}

bool Signature::matches(const PlanArguments& arguments) const {
  if (arguments.tensors.size() != keys_.size() || arguments.values != values_) return false;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (!same(keys_[i], arguments.tensors, i)) return false;
  }
  return true;
}

std::string Signature::describe() const {
  std::string text = "(";
  for (const Key& key : keys_) {
    if (text.size() > 1) text += ", ";
    if (!key.defined) {
      text += "none";
      continue;
    }
    text += fmt::format("{} {}", name(key.meta.dtype), to_string(key.meta.shape));
    if (!key.meta.is_contiguous()) text += fmt::format(" strides {}", to_string(key.meta.strides));
    if (key.meta.device != Device::cpu()) text += " on " + to_string(key.meta.device);
  }
  // A step that records says itself that layers train.
  return text + (values_.back() ? "), layers as in training" : ")");
}

}  // namespace thalweg::detail
