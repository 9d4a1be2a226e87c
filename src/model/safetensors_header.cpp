#include "model/safetensors_header.h"

#include <algorithm>
#include <cstring>

#include "base/fail.h"
#include "model/safetensors_json.h"

namespace thalweg::model {
namespace {

// Checks and converts the entries of one file.
class Checker {
 public:
  Checker(const std::string& path, uint64_t data_begin, uint64_t file_size)
      : path_(path), data_begin_(data_begin), data_size_(file_size - data_begin) {}

  TensorEntry entry(const RawEntry& raw) const {
    if (!raw.dtype) fail_entry(raw, "a dtype", "none");
    if (!raw.shape) fail_entry(raw, "a shape", "none");
    if (!raw.offsets || raw.offsets->size() != 2) {
      fail_entry(raw, "two data_offsets",
                 raw.offsets ? std::to_string(raw.offsets->size()) : "none");
    }
    const uint64_t begin = (*raw.offsets)[0], end = (*raw.offsets)[1];
    if (begin > end || end > data_size_) {
      fail_entry(raw, fmt::format("data_offsets in order, up to {}", data_size_),
                 fmt::format("[{}, {}]", begin, end));
    }
    TensorEntry entry{raw.name, dtype(raw), shape(raw), begin + data_begin_, end + data_begin_};
    const uint64_t bytes = byte_count(raw, entry.dtype);
    if (bytes != end - begin) {
      fail_entry(raw, fmt::format("{} bytes for {} {}", bytes, *raw.dtype, to_string(entry.shape)),
                 fmt::format("data_offsets [{}, {}] with {}", begin, end, end - begin));
    }
    return entry;
  }

  // Neither gaps nor overlaps, from the first byte of the data to the last.
  void check_cover(const std::vector<TensorEntry>& entries) const {
    uint64_t expected = data_begin_;
    for (const TensorEntry& entry : entries) {
      if (entry.begin != expected) {
        fail_io(
            "safetensors: {} in the data; {} at byte {}: expected the start of '{}' here, found "
            "it at byte {}",
            entry.begin < expected ? "tensors overlap" : "gap", path_, expected, entry.name,
            entry.begin);
      }
      expected = entry.end;
    }
    if (expected != data_begin_ + data_size_) {
      fail_io(
          "safetensors: bytes behind the last tensor; {} at byte {}: expected the end, found {} "
          "more bytes",
          path_, expected, data_begin_ + data_size_ - expected);
    }
  }

 private:
  [[noreturn]] void fail_entry(const RawEntry& raw, std::string_view expected,
                               std::string_view found) const {
    fail_io("safetensors: wrong entry in the header; {}, '{}': expected {}, found {}", path_,
            raw.name, expected, found);
  }

  DType dtype(const RawEntry& raw) const {
    for (const DTypeName& name : kDTypeNames) {
      if (*raw.dtype == name.text) return name.dtype;
    }
    std::vector<const char*> known;
    for (const DTypeName& name : kDTypeNames) known.push_back(name.text);
    fail_entry(raw, fmt::format("a dtype of {}", fmt::join(known, ", ")), *raw.dtype);
  }

  Shape shape(const RawEntry& raw) const {
    if (raw.shape->size() > kMaxDims) {
      fail_entry(raw, fmt::format("at most {} dimensions", kMaxDims),
                 std::to_string(raw.shape->size()));
    }
    Shape shape;
    for (uint64_t size : *raw.shape) {
      if (size > INT64_MAX) fail_entry(raw, "sizes below 2^63", std::to_string(size));
      shape.push_back(static_cast<int64_t>(size));
    }
    return shape;
  }

  uint64_t byte_count(const RawEntry& raw, DType dtype) const {
    uint64_t bytes = item_size(dtype);
    // A size of 0 last in line must not hide a product that overflowed before it.
    for (uint64_t size : *raw.shape) {
      if (__builtin_mul_overflow(bytes, size, &bytes)) {
        fail_entry(raw, fmt::format("at most {} bytes", data_size_),
                   fmt::format("a shape [{}] of more than 2^64", fmt::join(*raw.shape, ", ")));
      }
    }
    return bytes;
  }

  const std::string& path_;
  uint64_t data_begin_, data_size_;
};

uint64_t header_size(Bytes file, const std::string& path) {
  if (file.size() < sizeof(uint64_t)) {
    fail_io("safetensors: file ends in its first number; {} at byte 0: expected 8 bytes, found {}",
            path, file.size());
  }
  const uint64_t size = load_le<uint64_t>(file.data());
  const uint64_t most = std::min<uint64_t>(file.size() - sizeof(uint64_t), kMaxHeaderBytes);
  if (size > most) {
    fail_io(
        "safetensors: no header; {} at byte 0: expected its size, at most {}, found {}; not a "
        "safetensors file, or its end is missing",
        path, most, size);
  }
  return size;
}

void check_bools(Bytes bytes, const TensorEntry& entry, const std::string& path) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] > std::byte{1}) {
      fail_io("safetensors: no bool; {} at byte {}, '{}': expected 0 or 1, found {}", path,
              entry.begin + i, entry.name, static_cast<int>(bytes[i]));
    }
  }
}

}  // namespace

SafetensorsHeader parse_safetensors(Bytes file, const std::string& path) {
  const uint64_t size = header_size(file, path);
  const std::string_view text = as_text(file.subspan(sizeof(uint64_t), size));
  if (text.empty() || text[0] != '{') {
    fail_io("safetensors: no header; {} at byte 8: expected '{{', found {}", path,
            text.empty() ? "nothing" : fmt::format("byte {}", static_cast<uint8_t>(text[0])));
  }
  RawHeader raw = parse_safetensors_json(text, path);
  const Checker checker(path, sizeof(uint64_t) + size, file.size());
  SafetensorsHeader header{{}, std::move(raw.metadata)};
  header.entries.reserve(raw.entries.size());
  for (const RawEntry& entry : raw.entries) header.entries.push_back(checker.entry(entry));
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const TensorEntry& a, const TensorEntry& b) {
                     return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                   });
  checker.check_cover(header.entries);
  return header;
}

Tensor read_entry(Bytes file, const TensorEntry& entry, const std::string& path) {
  const Bytes bytes = file.subspan(entry.begin, entry.end - entry.begin);
  if (entry.dtype == DType::boolean) check_bools(bytes, entry, path);
  const Tensor tensor = Tensor::empty(entry.shape, {.dtype = entry.dtype});
  if (!bytes.empty()) std::memcpy(tensor.impl()->data, bytes.data(), bytes.size());
  return tensor;
}

}  // namespace thalweg::model
