// What a verifier knows of the trace before any call.

#include <algorithm>
#include <bit>

#include "graph/verifier.h"

namespace thalweg {

Verifier::Ids::Ids(size_t most)
    : places_(std::bit_ceil(3 * most + 2)), shift_(64 - std::countr_zero(places_.size())) {}

void Verifier::Ids::clear() { std::ranges::fill(places_, Place()); }

uint32_t Verifier::Ids::find(uint64_t id) const {
  for (size_t i = first(id);; i = (i + 1) & (places_.size() - 1)) {
    if (places_[i].id == id) return places_[i].buffer;
    if (places_[i].id == 0) return kNoIndex;
  }
}

void Verifier::Ids::add(uint64_t id, uint32_t buffer) {
  size_t i = first(id);
  while (places_[i].id) i = (i + 1) & (places_.size() - 1);
  places_[i] = {id, buffer};
}

Verifier::Verifier(const Trace& trace, Program& program)
    : trace_(trace), program_(program), ids_(trace.buffers().size()) {
  const std::span<const TraceBuffer> buffers = trace.buffers();
  seen_.reserve(buffers.size());
  last_use_.assign(buffers.size(), 0);
  stays_.assign(buffers.size(), false);
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    const PlanBuffer::Kind kind = program.graph().buffers[i].kind;
    if (kind == PlanBuffer::Kind::gradient || kind == PlanBuffer::Kind::result)
      placed_.push_back(i);
  }
  for (const TraceGradient& g : trace.gradients()) stays_[g.value.buffer] = true;
  for (const TraceResult& r : trace.results()) {
    if (r.kind == TraceResult::Kind::buffer) stays_[r.value.buffer] = true;
  }
  find_fixed_steps();
  find_host_steps();
  first_backward_.assign(trace.gradients().size(), kNoIndex);
  for (uint32_t i = 0; i < trace.steps().size(); ++i) {
    const TraceStep& step = trace.steps()[i];
    if (step.kind != TraceStep::Kind::backward) continue;
    for (size_t g = 0; g < first_backward_.size(); ++g) {
      const auto leaves = trace.leaves(step);
      if (std::ranges::find(leaves, trace.gradients()[g].leaf) != leaves.end())
        first_backward_[g] = std::min(first_backward_[g], i);
    }
  }
}

Verifier::~Verifier() = default;

// As Trace::run does.
void Verifier::find_fixed_steps() {
  const std::span<const TraceBuffer> buffers = trace_.buffers();
  fixed_until_.resize(buffers.size());
  std::vector<bool> fixed(buffers.size());
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    fixed[i] = buffers[i].kind == TraceBuffer::Kind::born;
    fixed_until_[i] = kNoIndex;
  }
  const auto is_fixed = [&](const TraceOperand& o) {
    return o.buffer == kNoIndex || fixed[o.buffer];
  };
  for (uint32_t i = 0; i < trace_.steps().size(); ++i) {
    const TraceStep& step = trace_.steps()[i];
    fixed_step_.push_back(false);
    if (step.kind != TraceStep::Kind::kernel) continue;
    fixed_step_[i] = !step.op->flags.random && std::ranges::all_of(trace_.inputs(step), is_fixed) &&
                     std::ranges::all_of(trace_.outputs(step), is_fixed);
    for (const TraceOperand& in : trace_.inputs(step)) {
      if (in.buffer != kNoIndex) last_use_[in.buffer] = i;
    }
    for (const TraceOperand& out : trace_.outputs(step)) {
      last_use_[out.buffer] = i;
      if (fixed_step_[i] || !fixed[out.buffer]) continue;
      fixed[out.buffer] = false;
      fixed_until_[out.buffer] = i;
    }
  }
}

void Verifier::find_host_steps() {
  const std::vector<Lifetime> lives = lifetimes(program_.graph());
  struct Earlier {
    const HostWork* work;
    bool used;
  };
  std::vector<Earlier> earlier;
  uint32_t known = 0;  // buffers that steps so far have made known
  while (known < trace_.buffers().size() &&
         trace_.buffers()[known].kind == TraceBuffer::Kind::argument)
    ++known;
  for (uint32_t i = 0; i < trace_.steps().size(); ++i) {
    const TraceStep& step = trace_.steps()[i];
    if (step.kind == TraceStep::Kind::kernel) {
      for (const auto operands : {trace_.inputs(step), trace_.outputs(step)}) {
        for (const TraceOperand& o : operands) {
          if (o.buffer != kNoIndex) known = std::max(known, o.buffer + 1);
        }
      }
      for (Earlier& e : earlier) e.used = true;
    }
    if (step.kind != TraceStep::Kind::host) continue;
    HostStep& at = host_steps_.emplace_back();
    const size_t begin = host_steps_.size() > 1 ? host_steps_[host_steps_.size() - 2].records : 0;
    at.records = program_.records_before(i);
    at.written = program_.written(begin, at.records);
    at.can_replay = std::ranges::none_of(
        placed_, [&](uint32_t b) { return b >= known && lives[b].first < at.records; });
    at.repeats = std::ranges::any_of(earlier, [&](const Earlier& e) {
      return e.used && e.work->run == step.host.run && e.work->object == step.host.object;
    });
    earlier.push_back({&step.host, false});
  }
}

bool Verifier::is_born(uint32_t buffer) const {
  return trace_.buffers()[buffer].kind == TraceBuffer::Kind::born;
}

bool Verifier::fixed_now(uint32_t buffer) const {
  return is_born(buffer) && (fixed_until_[buffer] == kNoIndex || fixed_until_[buffer] >= next_);
}

}  // namespace thalweg
