#pragma once

#include <functional>

#include <thalweg/data/sample_source.h>

namespace thalweg::data {

/// Calls a user's function for one sample. Its exceptions leave as an Error that names the sample:
/// an Error as it is with the place, another one as an Error with it nested
/// (std::nested_exception).
void call_for_sample(const char* operation, const SampleKey& sample,
                     const std::function<void()>& function);

/// Copies `value` into row i of `rows`. Throws Error{invalid} when dtype or shape are not a row's.
void put_row(const char* operation, const Tensor& value, const Tensor& rows, size_t i);

}  // namespace thalweg::data
