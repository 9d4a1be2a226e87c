#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/model/safetensors.h>

namespace thalweg::model {

/// One tensor as the JSON text has it, sizes and offsets unchecked.
struct RawEntry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<uint64_t>> shape;
  std::optional<std::vector<uint64_t>> offsets;
};

struct RawHeader {
  std::vector<RawEntry> entries;
  Metadata metadata;
};

/// Reads the header's text, which begins at byte 8 of the file. Throws Error{io} for text that is
/// not JSON, or not of the format's form: other keys or types, a key that comes twice.
RawHeader parse_safetensors_json(std::string_view text, const std::string& path);

}  // namespace thalweg::model
