#pragma once

#include <cstdint>
#include <string>

#include "data/formats/byte_source.h"
#include "data/formats/raw_array.h"

namespace thalweg::data {

/// Reads the header of the NPY file that begins at byte `begin` of the source and ends at `end`.
/// Its size is checked against the header.
RawArray read_npy_header(std::shared_ptr<const ByteSource> source, uint64_t begin, uint64_t end,
                         const std::string& name);

/// The header of a file of version 1.0, padded to a multiple of 64 bytes.
std::string npy_header(DType dtype, const Shape& shape);

}  // namespace thalweg::data
