#include "data/image/record_index.h"

#include <algorithm>
#include <numeric>

#include <thalweg/data/recordio.h>

#include "base/fail.h"
#include "data/formats/recordio_part.h"

namespace thalweg::data {
namespace {

constexpr size_t kDefaultLimit = size_t{32} << 20;

}  // namespace

RecordIndex::RecordIndex(const ByteSource& source, const std::string& index)
    : source_(source), limit_(kDefaultLimit) {
  if (!index.empty()) read_index(index);
}

void RecordIndex::limit_chunks(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == limit_) return;
  limit_ = bytes;
  chunks_.clear();
  if (!has_keys()) offsets_.clear();
  next_ = 0;
  is_complete_ = false;
  failure_ = nullptr;
}

void RecordIndex::read_index(const std::string& index) {
  std::vector<RecordPlace> places = read_record_index(index);
  if (places.empty()) fail_io("recordio: the index is empty; {}", index);
  std::ranges::sort(places, {}, &RecordPlace::offset);
  for (size_t i = 0; i < places.size(); ++i) {
    const uint64_t offset = places[i].offset;
    const bool is_twice = i > 0 && offset == places[i - 1].offset;
    if (is_twice || offset % 4 != 0 || offset >= source_.size()) {
      fail_io("recordio: the index does not fit the file; {}: byte {} {}; {} has {} bytes", index,
              offset, is_twice ? "comes twice" : "cannot be the start of a record", source_.name(),
              source_.size());
    }
    offsets_.push_back(offset);
    keys_.push_back(places[i].key);
  }
}

// Goes from part to part, reading headers only.
uint64_t RecordIndex::end_of_record(uint64_t offset) const {
  for (uint64_t at = offset;;) {
    std::byte header[kPartHeader];
    source_.read_at(at, header);
    const PartHeader part = parse_part_header(header, at != offset, source_.name(), at);
    at += kPartHeader + part.padded();
    if (at > source_.size()) {
      fail_io(
          "recordio: the file ends inside a record; {} at byte {}: expected {} bytes in all, "
          "found {}",
          source_.name(), offset, at, source_.size());
    }
    if (part.ends_record()) return at;
  }
}

// Finds the next chunk; false if there is none.
bool RecordIndex::find_chunk() const {
  if (failure_) std::rethrow_exception(failure_);
  Chunk chunk;
  const bool is_indexed = has_keys();
  try {
    for (;;) {
      const bool at_end = is_indexed ? next_ == offsets_.size() : next_ >= source_.size();
      if (at_end) break;
      const uint64_t offset = is_indexed ? offsets_[next_] : next_;
      const uint64_t end = !is_indexed                   ? end_of_record(offset)
                           : next_ + 1 < offsets_.size() ? offsets_[next_ + 1]
                                                         : source_.size();
      if (chunk.count == 0) {
        chunk.offset = offset;
        chunk.first =
            is_indexed ? static_cast<int64_t>(next_) : static_cast<int64_t>(offsets_.size());
      } else if (end - chunk.offset > limit_) {
        break;
      }
      if (!is_indexed) offsets_.push_back(offset);
      ++chunk.count;
      chunk.bytes = end - chunk.offset;
      next_ = is_indexed ? next_ + 1 : end;
    }
  } catch (const Error&) {
    failure_ = std::current_exception();
    if (chunk.count == 0) throw;
  }
  if (chunk.count > 0) chunks_.push_back(chunk);
  return chunk.count > 0;
}

bool RecordIndex::has_chunk(int64_t chunk) const {
  const std::lock_guard lock(mutex_);
  while (static_cast<int64_t>(chunks_.size()) <= chunk && !is_complete_)
    is_complete_ = !find_chunk();
  if (chunks_.empty()) fail_io("recordio: the file has no records; {}", source_.name());
  return chunk < static_cast<int64_t>(chunks_.size());
}

int64_t RecordIndex::chunks() const {
  has_chunk(INT64_MAX);
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(chunks_.size());
}

RecordIndex::Chunk RecordIndex::chunk(int64_t chunk) const {
  THALWEG_ASSERT(has_chunk(chunk));
  const std::lock_guard lock(mutex_);
  return chunks_[static_cast<size_t>(chunk)];
}

std::vector<uint64_t> RecordIndex::offsets(const Chunk& chunk) const {
  const std::lock_guard lock(mutex_);
  const auto first = offsets_.begin() + chunk.first;
  return {first, first + chunk.count};
}

}  // namespace thalweg::data
