#pragma once

#include <thalweg/data/transforms.h>

namespace thalweg::cli {

/// Labels as text holds them, in f32 or f64, to the i64 that classes are. Throws Error{invalid},
/// with the sample, for one that is not whole or is negative.
data::Transform class_numbers();

}  // namespace thalweg::cli
