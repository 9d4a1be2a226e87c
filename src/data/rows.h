#pragma once

#include <string>
#include <vector>

#include <thalweg/data/sample_source.h>

namespace thalweg::data {

/// `tensor` itself when it is row-major, else a row-major copy. Throws Error{invalid}, naming
/// `operation`, unless it is on the cpu.
Tensor row_major_on_host(const char* operation, const Tensor& tensor);

/// A row-major tensor over the same elements with another shape of the same size.
Tensor with_shape(const Tensor& tensor, const Shape& shape);

/// Row `i` of the first axis, without it; shares the elements.
Tensor row_of(const Tensor& rows, int64_t i);

/// Copies all of `rows` into `into` from its row `begin` on; both row-major, of one dtype.
void put_rows(const Tensor& rows, const Tensor& into, int64_t begin);

/// `sample` with a first axis of n in front.
Shape batch_shape(size_t n, const Shape& sample);

/// "data f32 [1, 28, 28], label i64 []".
std::string describe(const std::vector<Field>& fields);

}  // namespace thalweg::data
