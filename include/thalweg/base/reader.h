#pragma once

// Bytes in order, from memory, a file or a gzip file, all read the same way. Errors are of kind io
// and say where: `read: data end early; train.idx at byte 16: expected 784 bytes, found 12`.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <thalweg/base/bytes.h>
#include <thalweg/base/export.h>

namespace thalweg {

class THALWEG_API Reader {
 public:
  virtual ~Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// The file's path, or what else to blame.
  const std::string& name() const { return name_; }

  /// Bytes read so far; in a gzip file, unpacked ones.
  uint64_t offset() const { return offset_of_chunk_ + used_; }

  /// "train.idx at byte 16", for error texts.
  std::string where() const;

  /// Bytes still to come, where that is known: not for gzip files and pipes.
  virtual std::optional<uint64_t> remaining() const { return std::nullopt; }

  bool at_end() { return used_ == chunk_.size() && !next(); }

  /// Up to into.size() bytes; fewer at the end only.
  size_t read_some(std::span<std::byte> into);

  /// Fills `into`; that the data end before is an error.
  void read(std::span<std::byte> into);

  /// The next `size` bytes. Takes memory as the data come, so a wrong size costs none.
  std::string read_string(uint64_t size);

  /// The next line without its LF or CR LF; false at the end. The last line needs no LF. A line of
  /// more than `max_size` bytes is an error.
  bool read_line(std::string& line, size_t max_size = size_t{64} << 20);

  void skip(uint64_t size);

  /// One number, lowest byte first.
  template <Number T>
  T read_le() {
    std::byte bytes[sizeof(T)];
    read(bytes);
    return load_le<T>(bytes);
  }

  /// One number, highest byte first.
  template <Number T>
  T read_be() {
    std::byte bytes[sizeof(T)];
    read(bytes);
    return load_be<T>(bytes);
  }

 protected:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  /// The next bytes, which must stay valid until the call after; empty at the end, then always.
  virtual Bytes next_chunk() = 0;

 private:
  bool next();

  std::string name_;
  Bytes chunk_;
  size_t used_ = 0;  // of chunk_
  uint64_t offset_of_chunk_ = 0;
};

/// Reads memory that outlives it.
class THALWEG_API MemoryReader final : public Reader {
 public:
  MemoryReader(Bytes bytes, std::string name) : Reader(std::move(name)), bytes_(bytes) {}

  std::optional<uint64_t> remaining() const override { return bytes_.size() - offset(); }

 private:
  Bytes next_chunk() override { return std::exchange(unread_, {}); }

  Bytes bytes_;
  Bytes unread_ = bytes_;
};

/// Reads a file from its start; unpacks it if it is a gzip or zstd file, whatever its name says.
THALWEG_API std::unique_ptr<Reader> open_reader(const std::string& path);

/// The same for data in memory, which outlive the reader.
THALWEG_API std::unique_ptr<Reader> open_reader(Bytes bytes, std::string name);

}  // namespace thalweg
