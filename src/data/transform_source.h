#pragma once

#include <thalweg/data/transforms.h>

namespace thalweg::data {

/// `base` with the numbered fields after each of the steps. Leading conversions become part of the
/// base's gather where it can do that.
std::shared_ptr<const SampleSource> make_transformed(std::shared_ptr<const SampleSource> base,
                                                     const std::vector<size_t>& fields,
                                                     std::vector<Transform> steps);

}  // namespace thalweg::data
