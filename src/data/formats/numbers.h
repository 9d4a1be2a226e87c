#pragma once

#include <cstddef>
#include <string_view>

#include <thalweg/tensor/dtype.h>

namespace thalweg::data {

/// Why a text is not a number of some dtype.
enum class NumberFault { none, malformed, out_of_range };

/// Reads all of `text` as a number of `dtype` and writes it to `to`. Integers are decimal digits
/// with a sign at most, and exact; others may have a point, an exponent, or be inf or nan, and are
/// rounded once. No locale has a say; `decimal` is the sign before the fraction.
NumberFault parse_number(std::string_view text, DType dtype, std::byte* to, char decimal = '.');

/// "not a whole number", "not a number", "out of range": what was wrong, for error texts.
const char* describe(NumberFault fault, DType dtype);

/// `text` without blanks and tabs at its ends.
std::string_view trimmed(std::string_view text);

/// `text`, cut short if it is long, for error texts.
std::string_view shortened(std::string_view text);

}  // namespace thalweg::data
