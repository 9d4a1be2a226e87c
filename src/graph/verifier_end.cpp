// The end of a verified call: what stays after it.

#include <algorithm>

#include "base/fail.h"
#include "graph/leaf.h"
#include "graph/verifier.h"

namespace thalweg {

void Verifier::finish(std::span<const Tensor> results) {
  scope_.pause();
  if (mode_ != Mode::passing && !ends_as_planned(results)) differ(why_);
  if (mode_ != Mode::deferring) return;
  THALWEG_ASSERT(place_kept_buffers());
  try {
    advance(program_.graph().records.size());
  } catch (...) {
    give_gradients_back(program_.graph().records[records_].origin);
    throw;
  }
}

bool Verifier::ends_as_planned(std::span<const Tensor> results) {
  why_ = "it does less than planned";
  if (next_ != trace_.steps().size()) return false;
  why_ = "backward() reaches other leaves than planned";
  if (!leaves_match()) return false;
  why_ = "its gradients are others than planned";
  if (!gradients_match()) return false;
  why_ = "its results are others than planned";
  if (results.size() != trace_.results().size()) return false;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!result_matches(results, i)) return false;
  }
  why_ = "a tensor that is made inside is kept by something outside";
  if (!nothing_escapes()) return false;
  why_ = "random numbers were drawn, or the seed was set, by something that is no op";
  return random_matches();
}

bool Verifier::gradients_match() {
  return std::ranges::all_of(trace_.gradients(), [&](const TraceGradient& g) {
    if (!g.leaf->leaf) return false;
    const Tensor& grad = leaf_of(*g.leaf).grad;
    return grad.defined() && !grad.impl()->is_recorded() && is_at(g.value, *grad.impl()) &&
           (!is_born(g.value.buffer) || grad.impl()->storage->use_count() == 1);
  });
}

bool Verifier::result_matches(std::span<const Tensor> results, size_t i) {
  const TraceResult& r = trace_.results()[i];
  const TensorImpl* const impl = results[i].impl();
  if (!impl) return r.kind == TraceResult::Kind::undefined;
  switch (r.kind) {
    case TraceResult::Kind::undefined:
      return false;
    case TraceResult::Kind::argument:
      return impl == argument_pointers_[r.index];
    case TraceResult::Kind::gradient:
      return impl == leaf_of(*trace_.gradients()[r.index].leaf).grad.impl();
    case TraceResult::Kind::tensor:
      return impl == r.tensor.get();
    case TraceResult::Kind::buffer:
      break;
  }
  return is_at(r.value, *impl) && is_alone(results, i);
}

// True if only results hold it, and its memory where that is the call's.
bool Verifier::is_alone(std::span<const Tensor> results, size_t i) const {
  const TensorImpl* const impl = results[i].impl();
  uint32_t handles = 0, impls = 0;
  for (size_t k = 0; k < results.size(); ++k) {
    const TensorImpl* const other = results[k].impl();
    handles += other == impl;
    const bool shares = other && other->storage == impl->storage;
    const auto before = results.first(k);
    impls += shares && std::ranges::find(before, other, &Tensor::impl) == before.end();
  }
  if (impl->use_count() > handles) return false;
  return !impl->storage->made_since(first_id_) || impl->storage->use_count() == impls;
}

bool Verifier::nothing_escapes() const {
  if (seen_.size() != trace_.buffers().size()) return false;
  for (uint32_t b = 0; b < seen_.size(); ++b) {
    if (is_born(b) && seen_[b].storage && !stays_[b]) return false;
  }
  return true;
}

bool Verifier::random_matches() const {
  RandomState expected = first_random_;
  for (const TraceStep& step : trace_.steps()) expected.offset += step.blocks;
  return default_random_state() == expected;
}

}  // namespace thalweg
