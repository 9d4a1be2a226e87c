#pragma once

#include <memory>
#include <string>

#include <thalweg/base/reader.h>

namespace thalweg::data {

/// The bytes of a plain file from `begin` on, to its end. offset() counts from `begin`.
std::unique_ptr<Reader> open_range(const std::string& path, uint64_t begin);

}  // namespace thalweg::data
