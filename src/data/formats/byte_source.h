#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <thalweg/base/bytes.h>

namespace thalweg::data {

/// The bytes of a file at any place, unpacked if it is a gzip or zstd file. Packed ones are
/// unpacked as far as they are asked for, once, into a temporary file without a name (in TMPDIR or
/// /tmp). Any thread may call any function.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  const std::string& name() const { return name_; }

  /// Fills `into` from `offset` on as far as the data go; returns the number of bytes. Throws
  /// Error{io} if a plain file is no longer the one that was opened.
  virtual size_t read_some_at(uint64_t offset, std::span<std::byte> into) const = 0;

  /// Fills `into`; that the data end before is an error.
  void read_at(uint64_t offset, std::span<std::byte> into) const;

  /// Bytes in all; unpacks the rest if packed.
  virtual uint64_t size() const = 0;

  /// Bytes in all, at most, as far as is known without looking.
  virtual uint64_t max_size() const { return size(); }

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

std::unique_ptr<ByteSource> open_source(const std::string& path);

/// Bytes in memory that outlives the source, as they are; `name` is what errors blame.
std::unique_ptr<ByteSource> open_source(Bytes bytes, const std::string& name);

/// Bytes that are kept in a temporary file.
std::unique_ptr<ByteSource> unpacked_source(const std::string& bytes, const std::string& name);

/// Where the text in the source begins: after a byte-order mark of UTF-8. Throws Error{io} for one
/// of UTF-16 or UTF-32, and for a source without any other byte, naming `operation`.
uint64_t start_of_text(const char* operation, const ByteSource& source);

}  // namespace thalweg::data
