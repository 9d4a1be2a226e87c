#pragma once

#include <array>

#include <thalweg/base/bytes.h>
#include <thalweg/model/safetensors.h>

namespace thalweg::model {

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;  // in the order of the data
  Metadata metadata;
};

/// Parses and checks a whole file that is in memory. `path` is whom to blame.
SafetensorsHeader parse_safetensors(Bytes file, const std::string& path);

/// A copy of the tensor's elements. Throws Error{io} for a bool that is neither 0 nor 1.
Tensor read_entry(Bytes file, const TensorEntry& entry, const std::string& path);

struct DTypeName {
  DType dtype;
  const char* text;
};

/// The format's words for dtypes, in the order in which the safetensors library lays them out.
inline constexpr std::array kDTypeNames = {
    DTypeName{DType::i64, "I64"},     DTypeName{DType::f64, "F64"},   DTypeName{DType::f32, "F32"},
    DTypeName{DType::i32, "I32"},     DTypeName{DType::bf16, "BF16"}, DTypeName{DType::f16, "F16"},
    DTypeName{DType::i16, "I16"},     DTypeName{DType::i8, "I8"},     DTypeName{DType::u8, "U8"},
    DTypeName{DType::boolean, "BOOL"}};

/// The largest header that is read or written, as in the safetensors library.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;
inline constexpr const char* kMetadataKey = "__metadata__";

}  // namespace thalweg::model
