#pragma once

// IDX, the format of the MNIST family: two zero bytes, a type code, the number of dimensions, each
// size as a big-endian u32, then the elements, row-major and big-endian.

#include <string>

#include <thalweg/base/bytes.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::data {

/// The tensor in an IDX file, plain or gzip: u8, i8, i16, i32, f32 or f64, at most 8 dimensions.
/// Anything else, bytes missing and bytes left over are errors of kind io that say where. Sizes
/// that the file cannot hold are found before memory is taken.
THALWEG_API Tensor read_idx(const std::string& path);

/// The same for a file's bytes; `name` is what errors blame.
THALWEG_API Tensor read_idx(Bytes bytes, const std::string& name);

/// Writes a plain IDX file as a whole (see AtomicFile). Throws Error{invalid} for a dtype the
/// format does not have or a dimension of 2^32 or more.
THALWEG_API void write_idx(const std::string& path, const Tensor& tensor);

}  // namespace thalweg::data
