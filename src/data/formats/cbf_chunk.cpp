#include "data/formats/cbf_chunk.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/fail.h"

namespace thalweg::data {

// Goes through the bytes of one chunk of the file and checks all that it says of itself.
class CbfChunk::Walk {
 public:
  Walk(CbfChunk& chunk, const CbfHeader& header, const CbfChunkHeader& part, const std::byte* begin)
      : chunk_(chunk),
        header_(header),
        part_(part),
        begin_(begin),
        at_(begin),
        end_(begin + part.size) {}

  void add(const std::vector<size_t>& streams) {
    const std::byte* const lengths = take(4, part_.sequences);
    add_lengths(lengths);
    std::vector<uint32_t> longest(part_.sequences);
    for (size_t i = 0; i < header_.streams.size(); ++i) {
      const auto wanted = std::ranges::find(streams, i);
      Parts* const parts = wanted == streams.end()
                               ? nullptr
                               : &chunk_.parts_[static_cast<size_t>(wanted - streams.begin())];
      if (parts != nullptr) parts->sparse = header_.streams[i].sparse;
      for (uint32_t s = 0; s < part_.sequences; ++s)
        longest[s] = std::max(longest[s], add_sequence(header_.streams[i], parts));
    }
    for (uint32_t s = 0; s < part_.sequences; ++s) {
      const auto length = load_le<uint32_t>(lengths + 4 * size_t{s});
      if (length != longest[s])
        fail(fmt::format("sequence {} of the chunk has {} samples; expected {}", s, longest[s],
                         length));
    }
    if (at_ != end_) fail(fmt::format("{} bytes are left over after the chunk", end_ - at_));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    fail_io("cbf: {}; {} at byte {}", what, chunk_.name_,
            part_.offset + static_cast<uint64_t>(at_ - begin_));
  }

  const std::byte* take(size_t item_bytes, uint64_t count) {
    const auto left = static_cast<uint64_t>(end_ - at_);
    if (count > left / item_bytes)
      fail(fmt::format("expected {} times {} bytes, found {} in the chunk", count, item_bytes,
                       left));
    return std::exchange(at_, at_ + item_bytes * count);
  }
  uint32_t number() { return load_le<uint32_t>(take(4, 1)); }

  void add_lengths(const std::byte* lengths) {
    uint64_t samples = 0;
    for (uint32_t s = 0; s < part_.sequences; ++s) {
      const auto length = load_le<uint32_t>(lengths + 4 * size_t{s});
      if (length == 0 || length > std::numeric_limits<int32_t>::max())
        fail(fmt::format("sequence {} of the chunk has {} samples", s, length));
      samples += length;
      chunk_.lengths_.push_back(static_cast<int32_t>(length));
    }
    if (samples != part_.samples)
      fail(fmt::format("the chunk has {} samples; the header says {}", samples, part_.samples));
  }

  // Returns its samples.
  uint32_t add_sequence(const CbfStreamHeader& stream, Parts* parts) {
    const uint32_t samples = number();
    const size_t item = item_size(stream.dtype);
    if (!stream.sparse) {
      const std::byte* const values = take(item * stream.dim, samples);
      if (parts != nullptr) add_values(*parts, values, stream, uint64_t{samples} * stream.dim);
    } else {
      const uint32_t stored = number();
      if (stored > std::numeric_limits<int32_t>::max())
        fail(fmt::format("a sequence has {} stored values", static_cast<int32_t>(stored)));
      const std::byte* const values = take(item, stored);
      const std::byte* const columns = take(4, stored);
      const std::byte* const counts = take(4, samples);
      if (parts != nullptr) {
        add_values(*parts, values, stream, stored);
        add_columns(*parts, {columns, 4 * size_t{stored}}, stream.dim);
        add_row_starts(*parts, {counts, 4 * size_t{samples}}, stored);
      }
    }
    if (parts != nullptr) parts->samples.push_back(samples);
    return samples;
  }

  void add_values(Parts& parts, const std::byte* values, const CbfStreamHeader& stream,
                  uint64_t count) {
    if (stream.dtype == DType::f64) {
      // At a multiple of 4 bytes, and not of 8.
      if (count > 0) std::memcpy(parts.f64.room(count), values, count * sizeof(double));
      values = nullptr;
      parts.f64.commit(count);
      parts.f64_starts.push_back(static_cast<int64_t>(parts.f64.size() - count));
    }
    parts.values.push_back(values);
  }

  void add_columns(Parts& parts, Bytes columns, uint32_t dim) {
    const auto* numbers = reinterpret_cast<const int32_t*>(columns.data());
    uint32_t largest = 0;
    for (size_t i = 0; i < columns.size() / 4; ++i)
      largest = std::max(largest, static_cast<uint32_t>(numbers[i]));
    if (!columns.empty() && largest >= dim)
      fail(
          fmt::format("a column is {}; expected one below {}", static_cast<int32_t>(largest), dim));
    parts.columns.push_back(numbers);
  }

  void add_row_starts(Parts& parts, Bytes counts, uint32_t stored) {
    parts.first_row_start.push_back(static_cast<int64_t>(parts.row_starts.size()));
    uint64_t sum = 0;
    parts.row_starts.push_back(0);
    for (size_t i = 0; i < counts.size(); i += 4) {
      sum += load_le<uint32_t>(counts.data() + i);
      parts.row_starts.push_back(static_cast<int64_t>(sum));
    }
    if (sum != stored) fail(fmt::format("samples have {} stored values; expected {}", sum, stored));
  }

  CbfChunk& chunk_;
  const CbfHeader& header_;
  const CbfChunkHeader& part_;
  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
};

CbfChunk::CbfChunk(const ByteSource& source, const CbfHeader& header,
                   std::span<const CbfChunkHeader> chunks, const std::vector<size_t>& streams,
                   int64_t first)
    : name_(source.name()), first_(first), parts_(streams.size()) {
  static_assert(std::endian::native == std::endian::little);
  const uint64_t begin = chunks.front().offset;
  size_ = chunks.back().offset + chunks.back().size - begin;
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_);
  source.read_at(begin, {bytes_.get(), size_});
  for (const CbfChunkHeader& part : chunks)
    Walk(*this, header, part, bytes_.get() + (part.offset - begin)).add(streams);
}

size_t CbfChunk::bytes() const {
  size_t sum = sizeof(*this) + size_ + lengths_.bytes();
  for (const Parts& parts : parts_) {
    sum += parts.values.bytes() + parts.samples.bytes() + parts.columns.bytes() +
           parts.first_row_start.bytes() + parts.row_starts.bytes() + parts.f64.bytes() +
           parts.f64_starts.bytes();
  }
  return sum;
}

StreamValues CbfChunk::read(int64_t sequence, size_t stream, const SequenceDraw&) const {
  const Parts& parts = parts_[stream];
  const auto at = static_cast<size_t>(sequence);
  StreamValues result;
  result.samples = parts.samples[at];
  result.values = parts.values[at];
  if (parts.values[at] == nullptr) result.values = parts.f64.data() + parts.f64_starts[at];
  if (parts.sparse) {
    result.columns = parts.columns[at];
    result.row_starts = parts.row_starts.data() + parts.first_row_start[at];
  }
  return result;
}

std::string CbfChunk::where(int64_t sequence) const {
  return fmt::format("{}, sequence {}", name_, first_ + sequence);
}

}  // namespace thalweg::data
