#pragma once

#include <cstdint>
#include <string>

#include <thalweg/base/bytes.h>

namespace thalweg::data {

inline constexpr uint32_t kRecordMagic = 0xCED7230A;
inline constexpr size_t kPartHeader = 8;                       // bytes
inline constexpr uint32_t kMaxPart = (uint32_t{1} << 29) - 1;  // bytes of a payload

/// What the three upper bits of a part's second word say.
enum class PartKind : uint32_t { whole = 0, first = 1, middle = 2, last = 3 };

struct PartHeader {
  uint32_t kind = 0;  // a PartKind, or 4 to 7, which mean nothing
  uint32_t size = 0;  // of the payload

  bool begins_record() const { return kind <= static_cast<uint32_t>(PartKind::first); }
  bool ends_record() const {
    return kind == static_cast<uint32_t>(PartKind::whole) ||
           kind == static_cast<uint32_t>(PartKind::last);
  }
  /// Bytes of payload and padding.
  uint64_t padded() const { return (uint64_t{size} + 3) & ~uint64_t{3}; }
};

/// The header at the start of `bytes`, of at least kPartHeader bytes. Throws Error{io} unless it is
/// one that may come first in a record (`in_record` false), or further on.
PartHeader parse_part_header(Bytes bytes, bool in_record, const std::string& name, uint64_t offset);

/// The payload of the record at the start of `bytes`, which holds it whole: part of `bytes` if it
/// is one part, else put together in `joined`. Errors as above, `offset` being that of `bytes`.
Bytes parse_record(Bytes bytes, std::string& joined, const std::string& name, uint64_t offset);

}  // namespace thalweg::data
