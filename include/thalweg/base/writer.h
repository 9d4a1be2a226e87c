#pragma once

// Bytes in order, to memory or to a file. Errors are of kind io and name the file and the reason.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/base/bytes.h>
#include <thalweg/base/export.h>

namespace thalweg {

class THALWEG_API Writer {
 public:
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Bytes written so far.
  uint64_t offset() const { return offset_; }

  void write(Bytes bytes);
  void write(std::string_view text) { write(as_bytes(text)); }

  /// One number, lowest byte first.
  template <Number T>
  void write_le(T value) {
    std::byte bytes[sizeof(T)];
    store_le(value, bytes);
    write(bytes);
  }

  /// One number, highest byte first.
  template <Number T>
  void write_be(T value) {
    std::byte bytes[sizeof(T)];
    store_be(value, bytes);
    write(bytes);
  }

 protected:
  /// Keeps up to `buffer_size` bytes back, so that put() gets few and large pieces.
  explicit Writer(size_t buffer_size) : buffer_size_(buffer_size) {}

  virtual void put(Bytes bytes) = 0;

  /// Hands what was kept back to put().
  void flush_buffer();

 private:
  size_t buffer_size_;
  std::vector<std::byte> buffer_;
  uint64_t offset_ = 0;
};

class THALWEG_API MemoryWriter final : public Writer {
 public:
  MemoryWriter() : Writer(0) {}

  Bytes bytes() const { return bytes_; }

 private:
  void put(Bytes bytes) override { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  std::vector<std::byte> bytes_;
};

/// Replaces a file as a whole, or makes it: whoever opens `path`, also after a crash or a power
/// cut, finds the old content or the new one. What is written goes to a temporary file in the same
/// folder,
/// `.NAME.PID-N.tmp`; commit() brings it to the disk and gives it the name. Without commit(), and
/// after any error, the old file stays and the temporary goes; temporaries of writers that were
/// killed go with the next AtomicFile of the same path. If `path` is a symbolic link, it stays one
/// and the file it leads to is replaced.
class THALWEG_API AtomicFile final : public Writer {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile() override;

  /// The file that is replaced, links resolved.
  const std::string& path() const { return path_; }

  /// Once, as the last call.
  void commit();

 private:
  void put(Bytes bytes) override;
  void remove_temporary() noexcept;

  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

}  // namespace thalweg
