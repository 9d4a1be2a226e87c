#pragma once

#include <thalweg/base/bytes.h>

namespace thalweg::data {

/// The orientation, 1 to 8, in the payload of a JPEG's APP1 segment. 1 if it is no Exif, says none,
/// is cut short or holds another number.
int exif_orientation(Bytes app1);

}  // namespace thalweg::data
