#include <array>

#include <zlib.h>

#include <thalweg/base/checksum.h>

namespace thalweg {
namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b]: what byte b contributes when k bytes follow it within the eight taken at once.
constexpr Tables make_crc32c_tables() {
  constexpr uint32_t kReversedPolynomial = 0x82F63B78;
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kReversedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k)
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 255];
    }
  return tables;
}

constexpr Tables kTables = make_crc32c_tables();

}  // namespace

uint32_t crc32(Bytes bytes, uint32_t before) {
  return static_cast<uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

uint32_t crc32c(Bytes bytes, uint32_t before) {
  uint32_t crc = ~before;
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  for (; end - at >= 8; at += 8) {
    const uint64_t word = load_le<uint64_t>(at) ^ crc;
    crc = 0;
#pragma GCC unroll 8
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 255];
  }
  for (; at != end; ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint32_t>(*at)) & 255];
  return ~crc;
}

}  // namespace thalweg
