#pragma once

// NumPy's NPY (format versions 1 to 3) and NPZ, a zip archive of them. Pickled objects are refused.

#include <string>
#include <vector>

#include <thalweg/base/bytes.h>
#include <thalweg/data/dataset.h>

namespace thalweg::data {

/// The array in an NPY file, in either order of bytes and of axes: bool, i8, i16, i32, i64, u8,
/// f16, f32, f64; at most 8 dimensions. Other dtypes, bytes missing and bytes left over are errors
/// of kind io, found before memory is taken.
THALWEG_API Tensor read_npy(const std::string& path);

/// The same for a file's bytes; `name` is what errors blame.
THALWEG_API Tensor read_npy(Bytes bytes, const std::string& name);

/// Writes a file of version 1.0 as a whole (see AtomicFile). Throws Error{invalid} for bf16, which
/// NumPy does not have.
THALWEG_API void write_npy(const std::string& path, const Tensor& tensor);

/// All arrays in an NPZ file, stored or deflated, by their names without ".npy".
THALWEG_API std::vector<NamedTensor> read_npz(const std::string& path);

/// Writes them uncompressed, as numpy.savez does.
THALWEG_API void write_npz(const std::string& path, const std::vector<NamedTensor>& arrays);

}  // namespace thalweg::data
