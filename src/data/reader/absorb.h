#pragma once

#include <map>
#include <string>
#include <vector>

#include <thalweg/data/minibatch_source.h>

namespace thalweg::data {

/// How many of a stream's first steps are part of reading it already; none for those not named.
using AbsorbedSteps = std::map<std::string, size_t>;

/// Offers the steps of streams to the deserializers that read them, and puts in place of those what
/// they become. Throws Error{invalid} for steps that do not fit.
AbsorbedSteps absorb_steps(std::vector<DeserializerHandle>& parts,
                           const std::vector<StreamTransform>& transforms);

}  // namespace thalweg::data
