#include "data/reader/absorb.h"

#include <algorithm>

namespace thalweg::data {
namespace {

std::vector<ReadStep> steps_of(const std::string& stream,
                               const std::vector<StreamTransform>& transforms) {
  std::vector<ReadStep> steps;
  for (size_t group = 0; group < transforms.size(); ++group) {
    const StreamTransform& t = transforms[group];
    if (std::ranges::find(t.streams, stream) == t.streams.end()) continue;
    for (size_t i = 0; i < t.steps.size(); ++i) steps.push_back({t.steps[i], group, i});
  }
  return steps;
}

}  // namespace

AbsorbedSteps absorb_steps(std::vector<DeserializerHandle>& parts,
                           const std::vector<StreamTransform>& transforms) {
  AbsorbedSteps absorbed;
  for (DeserializerHandle& part : parts) {
    for (size_t s = 0; s < part->streams().size(); ++s) {
      const std::string name = part->streams()[s].name;
      const std::vector<ReadStep> steps = steps_of(name, transforms);
      size_t taken = 0;
      if (auto other = steps.empty() ? nullptr : part->absorb(s, steps, &taken)) {
        part = DeserializerHandle(std::move(other));
        absorbed[name] = taken;
      }
    }
  }
  return absorbed;
}

}  // namespace thalweg::data
