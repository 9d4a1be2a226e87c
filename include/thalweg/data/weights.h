#pragma once

#include <string_view>
#include <vector>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// The class of every sequence of a corpus, by its first sample in a stream: an integer as it
/// stands, of several values the place of the largest. Reads all data once. Throws Error{invalid}
/// for a stream that is not there or a class below 0; sequences that are dropped have class -1.
THALWEG_API std::vector<int64_t> read_classes(const Deserializer& deserializer,
                                              std::string_view stream);

/// For MinibatchSourceOptions::weights: sequences of all classes are drawn equally often. Those of
/// class -1 are never drawn.
THALWEG_API std::vector<double> balanced_weights(const std::vector<int64_t>& classes);

/// For losses: a weight per class, from 0 to the largest, n / (classes * n of the class), whose
/// mean over the sequences is 1; 0 for a class without any. Classes that occur count.
THALWEG_API std::vector<double> class_weights(const std::vector<int64_t>& classes);

}  // namespace thalweg::data
