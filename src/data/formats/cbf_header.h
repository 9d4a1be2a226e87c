#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <thalweg/data/deserializer.h>

#include "data/formats/byte_source.h"

namespace thalweg::data {

inline constexpr uint64_t kCbfMagic = 0x636e746b5f62696e;
inline constexpr uint32_t kCbfVersion = 1;
inline constexpr uint64_t kCbfStart = 12;  // of the first chunk

struct CbfStreamHeader {
  std::string name;
  bool sparse = false;
  DType dtype = DType::f32;
  uint32_t dim = 0;
};

struct CbfChunkHeader {
  uint64_t offset = 0;
  uint64_t size = 0;  // up to the next chunk or the header
  uint32_t sequences = 0;
  uint32_t samples = 0;
};

struct CbfHeader {
  std::vector<CbfStreamHeader> streams;
  std::vector<CbfChunkHeader> chunks;
};

/// Throws Error{io} for anything that is not as the format says.
CbfHeader read_cbf_header(const ByteSource& source);

}  // namespace thalweg::data
