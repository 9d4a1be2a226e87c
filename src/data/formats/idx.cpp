#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <thalweg/base/reader.h>
#include <thalweg/base/writer.h>
#include <thalweg/data/idx.h>

#include "base/fail.h"
#include "data/formats/idx_header.h"
#include "data/rows.h"

namespace thalweg::data {
namespace {

struct TypeCode {
  uint8_t code;
  DType dtype;
};
constexpr TypeCode kTypes[] = {{0x08, DType::u8},  {0x09, DType::i8},  {0x0B, DType::i16},
                               {0x0C, DType::i32}, {0x0D, DType::f32}, {0x0E, DType::f64}};

// Deflate needs at least one byte for so many (RFC 1951: 258 bytes in 2 bits).
constexpr uint64_t kMaxInflation = 1032;

std::optional<DType> dtype_of_code(uint8_t code) {
  for (const TypeCode& type : kTypes)
    if (type.code == code) return type.dtype;
  return std::nullopt;
}

std::optional<uint8_t> code_of_dtype(DType dtype) {
  for (const TypeCode& type : kTypes)
    if (type.dtype == dtype) return type.code;
  return std::nullopt;
}

struct Header {
  DType dtype;
  Shape shape;
  uint64_t bytes;  // of all elements
};

Header read_header(Reader& reader) {
  const std::string start = reader.where();
  std::byte magic[4];
  reader.read(magic);
  const auto dtype = dtype_of_code(static_cast<uint8_t>(magic[2]));
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0} || !dtype) {
    fail_io(
        "read_idx: wrong magic number; {}: expected 00 00, then 08, 09, 0B, 0C, 0D or 0E, found "
        "{:02X} {:02X} {:02X} {:02X}; is it an IDX file?",
        start, static_cast<int>(magic[0]), static_cast<int>(magic[1]), static_cast<int>(magic[2]),
        static_cast<int>(magic[3]));
  }
  const size_t dims = static_cast<size_t>(magic[3]);
  if (dims > kMaxDims) {
    fail_io("read_idx: too many dimensions; {} at byte 3: expected at most {}, found {}",
            reader.name(), kMaxDims, dims);
  }
  Header header{*dtype, {}, item_size(*dtype)};
  for (size_t i = 0; i < dims; ++i) {
    header.shape.push_back(reader.read_be<uint32_t>());
    if (__builtin_mul_overflow(header.bytes, static_cast<uint64_t>(header.shape[i]),
                               &header.bytes)) {
      fail_io("read_idx: sizes {} are too large; {}", to_string(header.shape), reader.where());
    }
  }
  return header;
}

[[noreturn]] void fail_size(const std::string& where, const Header& header,
                            std::string_view at_most, uint64_t found) {
  fail_io("read_idx: size differs from the header's; {}: expected {} bytes for {} {}, found {}{}",
          where, header.bytes, name(header.dtype), to_string(header.shape), at_most, found);
}

// `limit` is the most bytes that can follow the header, as far as is known.
void check_size(const Reader& reader, const Header& header, std::optional<uint64_t> limit) {
  const auto left = reader.remaining();
  const bool fits = left ? *left == header.bytes : !limit || header.bytes <= *limit;
  if (fits) return;
  fail_size(reader.where(), header, left ? "" : "at most ", left ? *left : *limit);
}

Tensor read_tensor(Reader& reader, std::optional<uint64_t> limit) {
  const Header header = read_header(reader);
  check_size(reader, header, limit);
  std::string unbounded;  // a pipe tells no size: memory is taken as the bytes come
  if (!reader.remaining() && !limit) unbounded = reader.read_string(header.bytes);
  const Tensor tensor = Tensor::empty(header.shape, {.dtype = header.dtype});
  const std::span bytes(tensor.impl()->as<std::byte>(), header.bytes);
  constexpr size_t kPiece = 256 * 1024;  // its bytes are swapped while the cache holds them
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const std::span piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    if (unbounded.empty())
      reader.read(piece);
    else
      std::ranges::copy(as_bytes(unbounded).subspan(at, piece.size()), piece.begin());
    swap_items(piece.data(), piece.size() / item_size(header.dtype), item_size(header.dtype));
  }
  if (!reader.at_end()) {
    fail_io("read_idx: data go on after the last element; {}: expected {} bytes for {} {}",
            reader.where(), header.bytes, name(header.dtype), to_string(header.shape));
  }
  return tensor;
}

}  // namespace

RawArray read_idx_header(std::shared_ptr<const ByteSource> source) {
  std::byte start[4 + 4 * kMaxDims];
  const size_t found = source->read_some_at(0, start);
  MemoryReader reader(Bytes(start, found), source->name());
  const Header header = read_header(reader);
  const uint64_t offset = reader.offset();
  const uint64_t size = source->max_size();
  if (size != UINT64_MAX && size - offset != header.bytes)
    fail_size(reader.where(), header, "", size - offset);
  return {source, source->name(), offset, header.dtype, header.shape, true, false};
}

Tensor read_idx(const std::string& path) {
  const auto reader = open_reader(path);
  std::error_code no_size;
  const uint64_t packed = std::filesystem::file_size(path, no_size);
  if (no_size) return read_tensor(*reader, std::nullopt);
  return read_tensor(*reader, packed * kMaxInflation);
}

Tensor read_idx(Bytes bytes, const std::string& name) {
  return read_tensor(*open_reader(bytes, name), bytes.size() * kMaxInflation);
}

std::string idx_header(DType dtype, const Shape& shape) {
  const auto code = code_of_dtype(dtype);
  if (!code) {
    fail_invalid("write_idx: the format has no {}; convert to u8, i8, i16, i32, f32 or f64",
                 name(dtype));
  }
  for (int64_t size : shape) {
    if (size > std::numeric_limits<uint32_t>::max())
      fail_invalid("write_idx: sizes {} do not all fit in 32 bits", to_string(shape));
  }
  MemoryWriter header;
  header.write_be<uint16_t>(0);
  header.write_be<uint8_t>(*code);
  header.write_be<uint8_t>(static_cast<uint8_t>(shape.size()));
  for (int64_t size : shape) header.write_be(static_cast<uint32_t>(size));
  return std::string(as_text(header.bytes()));
}

void write_idx(const std::string& path, const Tensor& tensor) {
  const std::string header = idx_header(tensor.dtype(), tensor.shape());
  const Tensor host = row_major_on_host("write_idx", tensor);
  const auto* bytes = host.impl()->as<const std::byte>();
  const size_t count = static_cast<size_t>(host.size());
  const size_t item_bytes = item_size(host.dtype());
  AtomicFile file(path);
  file.write(header);
  std::vector<std::byte> piece;
  constexpr size_t kPiece = 1 << 16;  // items
  for (size_t i = 0; i < count; i += kPiece) {
    const size_t n = std::min(kPiece, count - i);
    piece.assign(bytes + i * item_bytes, bytes + (i + n) * item_bytes);
    swap_items(piece.data(), n, item_bytes);
    file.write(piece);
  }
  file.commit();
}

}  // namespace thalweg::data
