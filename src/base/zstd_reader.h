#pragma once

#include <memory>

#include <thalweg/base/reader.h>

namespace thalweg {

/// Whether the data begin as a zstd file does (RFC 8878).
bool is_zstd(Bytes start);

/// Unpacks the zstd frames of `packed`, one after the other. A frame that is cut short or damaged
/// is an error with the frame's offset. Throws Error{unavailable} where Thalweg was built without
/// zstd.
std::unique_ptr<Reader> make_zstd_reader(std::unique_ptr<Reader> packed);

}  // namespace thalweg
