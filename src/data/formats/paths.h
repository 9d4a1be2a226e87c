#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::data {

/// The files that a path or a pattern with *, ? or [] means, in alphabetical order. Throws
/// Error{io} if there are none.
std::vector<std::string> expand_path(const std::string& path);

/// What tells one state of a file from another.
struct FileStamp {
  uint64_t size = 0;
  int64_t time_ns = 0;  // of its last change

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Throws Error{io} if there is no file.
FileStamp stamp_of(const std::string& path);

}  // namespace thalweg::data
