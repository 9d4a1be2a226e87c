#pragma once

#include <cstdint>

#include <thalweg/base/bytes.h>
#include <thalweg/base/export.h>

namespace thalweg {

/// CRC-32 of gzip, zip and PNG. `before` is the checksum of the bytes before these.
THALWEG_API uint32_t crc32(Bytes bytes, uint32_t before = 0);

/// CRC-32C (Castagnoli) of TensorBoard's records, iSCSI and ext4. `before` as in crc32.
THALWEG_API uint32_t crc32c(Bytes bytes, uint32_t before = 0);

}  // namespace thalweg
