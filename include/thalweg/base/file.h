#pragma once

// Files as a whole. Every error is of kind io and names the operation, the file and the reason.

#include <cstdint>
#include <string>
#include <string_view>

#include <thalweg/base/bytes.h>
#include <thalweg/base/export.h>

namespace thalweg {

/// A file open for reading at any place. Threads may share it.
class THALWEG_API File {
 public:
  explicit File(std::string path);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  const std::string& path() const { return path_; }

  /// Bytes in the file; 0 for what has no size of its own, such as a pipe.
  uint64_t size() const;

  /// Fills `into` with the bytes from `offset` on; that the file ends before is an error.
  void read_at(uint64_t offset, std::span<std::byte> into) const;

  /// Fills `into` from where the last call of this function ended, as far as the file goes. Returns
  /// the number of bytes, 0 at the end only.
  size_t read_next(std::span<std::byte> into);

 private:
  friend class MappedFile;

  std::string path_;
  int fd_ = -1;
};

/// All bytes of a file. More than `max_bytes` is an error before memory is taken.
THALWEG_API std::string read_file(const std::string& path, uint64_t max_bytes = uint64_t{1} << 40);

/// A file's bytes in memory without reading them ahead. They change if somebody writes the file,
/// and the process dies (SIGBUS) where somebody shortens it: for files that are complete, such as
/// data sets and those of AtomicFile.
class THALWEG_API MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

/// Replaces the file, or makes it, as a whole: see AtomicFile.
THALWEG_API void write_file(const std::string& path, std::string_view content);

}  // namespace thalweg
