#pragma once

// Zip archives (PKWARE's APPNOTE 6.3): stored and deflated entries, also with 64-bit sizes. Nothing
// is ever put on the disk: names are keys.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/base/writer.h>

#include "data/formats/byte_source.h"

namespace thalweg::data {

struct ZipEntry {
  std::string name;
  uint64_t offset = 0;       // of its local header
  uint64_t packed_size = 0;  // in the archive
  uint64_t size = 0;         // unpacked
  uint32_t crc = 0;
  uint16_t method = 0;  // 0 stored, 8 deflated
};

/// Any thread may call any function.
class ZipArchive {
 public:
  /// Reads the directory. Throws Error{io} for a file that is no zip, sizes that the file cannot
  /// hold, encryption, other methods, and a name that comes twice.
  explicit ZipArchive(std::unique_ptr<ByteSource> source);

  const std::string& name() const { return source_->name(); }
  /// In the order of the directory; those that end in '/' are folders.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  std::optional<size_t> find(std::string_view name) const;

  /// An entry's content; that it differs from its size or checksum, or the entry from its local
  /// header, is an Error{io}.
  std::string read(size_t entry) const;
  /// Where the content of a stored entry begins in the file. Checks the local header only.
  uint64_t content_offset(size_t entry) const;

 private:
  struct Directory {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t entries = 0;
  };

  Directory find_directory() const;
  void read_entries(const Directory& directory);
  void check(const ZipEntry& entry) const;

  std::unique_ptr<ByteSource> source_;
  std::vector<ZipEntry> entries_;
  std::vector<uint32_t> by_name_;  // numbers of entries, sorted by name
};

/// Writes stored entries one after the other.
class ZipWriter {
 public:
  explicit ZipWriter(Writer& file) : file_(file) {}

  void write(const std::string& name, Bytes content);
  /// Begins an entry; the caller then writes its `size` bytes, whose checksum is `crc`, to the
  /// file.
  void begin(const std::string& name, uint64_t size, uint32_t crc);
  /// Writes the directory, as the last call.
  void finish();

 private:
  Writer& file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace thalweg::data
