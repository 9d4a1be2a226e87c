#include "data/formats/cbf_header.h"

#include <algorithm>
#include <limits>

#include <thalweg/base/reader.h>

#include "base/fail.h"

namespace thalweg::data {
namespace {

constexpr uint32_t kStreamBytes = 1 + 4 + 1 + 4;  // besides its name
constexpr uint32_t kChunkBytes = 8 + 4 + 4;

[[noreturn]] void fail_at(const ByteSource& source, uint64_t offset, const std::string& what) {
  fail_io("cbf: {}; {} at byte {}", what, source.name(), offset);
}

CbfStreamHeader read_stream(const ByteSource& source, Reader& in, uint64_t begin) {
  CbfStreamHeader stream;
  const uint64_t at = begin + in.offset();
  const auto storage = in.read_le<uint8_t>();
  const auto name_size = in.read_le<uint32_t>();
  stream.name = in.read_string(name_size);
  const auto type = in.read_le<uint8_t>();
  stream.dim = in.read_le<uint32_t>();
  if (storage > 1) fail_at(source, at, fmt::format("a stream is stored in a way {}", storage));
  if (type > 1) fail_at(source, at, fmt::format("a stream has values of type {}", type));
  if (stream.dim == 0 || stream.dim > std::numeric_limits<int32_t>::max())
    fail_at(source, at,
            fmt::format("samples of stream '{}' have {} values", stream.name, stream.dim));
  stream.sparse = storage == 1;
  stream.dtype = type == 1 ? DType::f64 : DType::f32;
  return stream;
}

void read_chunks(const ByteSource& source, Reader& in, uint64_t begin, uint32_t count,
                 CbfHeader& header) {
  uint64_t expected = kCbfStart;
  for (uint32_t i = 0; i < count; ++i) {
    CbfChunkHeader chunk;
    const uint64_t at = begin + in.offset();
    chunk.offset = in.read_le<uint64_t>();
    chunk.sequences = in.read_le<uint32_t>();
    chunk.samples = in.read_le<uint32_t>();
    if (chunk.offset < expected || chunk.offset > begin)
      fail_at(source, at,
              fmt::format("chunk {} begins at byte {}; expected {}", i, chunk.offset, expected));
    if (i > 0) header.chunks.back().size = chunk.offset - header.chunks.back().offset;
    expected = chunk.offset + 4 * uint64_t{chunk.sequences};
    header.chunks.push_back(chunk);
  }
  header.chunks.back().size = begin - header.chunks.back().offset;
  if (expected > begin) fail_at(source, begin, "the last chunk is cut short");
}

}  // namespace

CbfHeader read_cbf_header(const ByteSource& source) {
  const uint64_t size = source.size();
  constexpr uint64_t kLeast = kCbfStart + 16 + 8;
  if (size < kLeast)
    fail_io("cbf: the file is too short; {}: expected at least {} bytes, found {}", source.name(),
            kLeast, size);
  std::byte start[kCbfStart];
  std::byte end[8];
  source.read_at(0, start);
  source.read_at(size - 8, end);
  if (load_le<uint64_t>(start) != kCbfMagic)
    fail_at(source, 0, "there is no magic number; is it a CBF file?");
  if (load_le<uint32_t>(start + 8) != kCbfVersion)
    fail_at(source, 8,
            fmt::format("version {} is unknown; expected 1", load_le<uint32_t>(start + 8)));
  const auto begin = load_le<uint64_t>(end);
  if (begin < kCbfStart || begin > size - 8 - 16)
    fail_at(source, size - 8,
            fmt::format("the header cannot be at byte {}; was the file cut?", begin));

  std::vector<std::byte> bytes(size - 8 - begin);
  source.read_at(begin, bytes);
  MemoryReader in(bytes, source.name() + ", header");
  if (in.read_le<uint64_t>() != kCbfMagic)
    fail_at(source, begin, "there is no magic number before the header; was the file cut?");
  const auto chunks = in.read_le<uint32_t>();
  const auto streams = in.read_le<uint32_t>();
  if (streams == 0 || chunks == 0 || uint64_t{streams} * kStreamBytes > bytes.size() ||
      uint64_t{chunks} * kChunkBytes > bytes.size()) {
    fail_at(source, begin, fmt::format("there cannot be {} chunks of {} streams", chunks, streams));
  }
  CbfHeader header;
  for (uint32_t i = 0; i < streams; ++i) {
    const uint64_t at = begin + in.offset();
    CbfStreamHeader stream = read_stream(source, in, begin);
    for (const CbfStreamHeader& other : header.streams)
      if (other.name == stream.name)
        fail_at(source, at, fmt::format("two streams have the name '{}'", stream.name));
    header.streams.push_back(std::move(stream));
  }
  read_chunks(source, in, begin, chunks, header);
  if (!in.at_end()) fail_at(source, begin + in.offset(), "data go on after the header");
  return header;
}

}  // namespace thalweg::data
