#pragma once

// model.json: docs/formats/model.md describes it.

#include <string>
#include <string_view>

#include "model/form.h"

namespace thalweg::model {

inline constexpr int64_t kModelVersion = 1;
inline constexpr uint64_t kMaxModelJson = uint64_t{1} << 26;
inline constexpr const char* kModelJson = "model.json";
inline constexpr const char* kModelWeights = "model.safetensors";

/// The file's text; the weights are those with this CRC-32C.
std::string write_form(const Form& form, uint32_t weights_checksum);

/// Reads the text, without the elements of tensors. Throws Error{io} that names the file, the
/// field, what was expected and what was found. `weights_checksum` gets what write_form() was
/// given.
Form read_form(std::string_view text, const std::string& path, uint32_t& weights_checksum);

/// "4*N+1", or a plain number for a size that is always the same.
std::string size_text(const Size& size);
/// Nothing if it is no such text.
std::optional<Size> parse_size(std::string_view text);

}  // namespace thalweg::model
