#pragma once

#include <memory>
#include <vector>

#include <thalweg/base/reader.h>

namespace thalweg {

/// Whether the data begin as a gzip file does (RFC 1952).
bool is_gzip(Bytes start);

/// Unpacks the gzip members of `packed`, one after the other; zero bytes may follow the last. A
/// member that is cut short, damaged or of a wrong checksum is an error with the member's offset.
class GzipReader final : public Reader {
 public:
  explicit GzipReader(std::unique_ptr<Reader> packed);
  ~GzipReader() override;

 private:
  struct Inflate;

  Bytes next_chunk() override;
  bool refill();
  bool begin_member();
  [[noreturn]] void fail_member(const char* reason) const;

  std::unique_ptr<Reader> packed_;
  std::unique_ptr<Inflate> inflate_;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  uint64_t member_offset_ = 0;
  bool in_member_ = false;
};

}  // namespace thalweg
