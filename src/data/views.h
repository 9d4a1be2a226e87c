#pragma once

#include <thalweg/data/dataset.h>

namespace thalweg::data {

/// Samples of another source under new numbers: `count` of them from `begin` on.
std::shared_ptr<const SampleSource> make_slice(std::shared_ptr<const SampleSource> base,
                                               int64_t begin, int64_t count);

/// The same by a list of numbers, which are in range.
std::shared_ptr<const SampleSource> make_subset(std::shared_ptr<const SampleSource> base,
                                                std::vector<int64_t> indices);

/// The samples of several sources of the same fields, one after the other; at least one.
std::shared_ptr<const SampleSource> make_concat(
    std::vector<std::shared_ptr<const SampleSource>> parts);

}  // namespace thalweg::data
