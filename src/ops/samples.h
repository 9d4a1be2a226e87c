#pragma once

// Sample sets that several rows share.

#include <thalweg/ops/samples.h>

namespace thalweg {

/// One input: both signs, above 1, between 0 and 1, 0-d, empty, and strided.
void sample_unary(Samples& samples);
/// Two inputs: equal shapes, broadcasting both ways, 0-d, empty, strided.
void sample_binary(Samples& samples);

}  // namespace thalweg
