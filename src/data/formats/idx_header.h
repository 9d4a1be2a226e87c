#pragma once

#include <memory>

#include "data/formats/raw_array.h"

namespace thalweg::data {

/// Reads the header of an IDX file. Its size is checked against that of the data, where the source
/// knows it without unpacking.
RawArray read_idx_header(std::shared_ptr<const ByteSource> source);

}  // namespace thalweg::data
