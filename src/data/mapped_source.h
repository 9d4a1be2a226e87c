#pragma once

#include <thalweg/data/dataset.h>

namespace thalweg::data {

/// `base` with a user's function called for each sample.
std::shared_ptr<const SampleSource> make_mapped(std::shared_ptr<const SampleSource> base,
                                                SampleFunction function);

}  // namespace thalweg::data
