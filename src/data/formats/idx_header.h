#pragma once

#include <memory>

#include "data/formats/raw_array.h"

namespace thalweg::data {

/// Reads the header of an IDX file. Its size is checked against that of the data, where the source
/// knows it without unpacking.
RawArray read_idx_header(std::shared_ptr<const ByteSource> source);

/// The header of a file. Throws Error{invalid} for a dtype that the format lacks and for sizes that
/// do not fit in 32 bits.
std::string idx_header(DType dtype, const Shape& shape);

}  // namespace thalweg::data
