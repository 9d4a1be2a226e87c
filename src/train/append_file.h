#pragma once

// A file that grows at its end by whole pieces: a piece that does not fit on the disk is taken
// back.

#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::train {

class AppendFile {
 public:
  enum class Mode { create, existing };

  /// Creates a file that must not be there, or opens one that must be.
  AppendFile(std::string path, Mode mode);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Throws Error io if another process has locked the file. The lock ends with this object or
  /// process.
  void lock();

  /// All of `bytes` or, with an Error io, none.
  void append(std::string_view bytes);

  void truncate(int64_t size);
  void sync();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_;
  int64_t size_;
};

}  // namespace thalweg::train
