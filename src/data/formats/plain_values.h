#pragma once

#include <cstddef>

namespace thalweg::data {

/// Parses `dim` decimal numbers between blanks (space, tab), by as many bytes at a time as the
/// processor can. Returns the '|' or control byte after them; null if there are not exactly so many
/// numbers before it, or something else, which tells nothing about `values`. The text is padded
/// with kDecimalPadding bytes of '\n' at `end`, and two bytes before `at` may be read.
const char* parse_plain_values(const char* at, const char* end, float* values, size_t dim);
const char* parse_plain_values(const char* at, const char* end, double* values, size_t dim);

}  // namespace thalweg::data
