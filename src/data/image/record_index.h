#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/formats/byte_source.h"

namespace thalweg::data {

/// Where the records of a RecordIO file lie, cut into chunks: from an index file, or found by going
/// through the file as far as is asked for. Any thread may call any function.
class RecordIndex {
 public:
  struct Chunk {
    uint64_t offset = 0;
    size_t bytes = 0;
    int64_t first = 0;  // record
    int64_t count = 0;
  };

  /// `index` "": none.
  RecordIndex(const ByteSource& source, const std::string& index);

  void limit_chunks(size_t bytes);
  /// Throws Error{io} where the file is damaged, once the chunks before it were given.
  bool has_chunk(int64_t chunk) const;
  Chunk chunk(int64_t chunk) const;
  int64_t chunks() const;
  /// Where the records of a chunk begin.
  std::vector<uint64_t> offsets(const Chunk& chunk) const;

  bool has_keys() const { return !keys_.empty(); }
  uint64_t key(int64_t record) const { return keys_[static_cast<size_t>(record)]; }

 private:
  void read_index(const std::string& index);
  bool find_chunk() const;
  uint64_t end_of_record(uint64_t offset) const;

  const ByteSource& source_;
  size_t limit_;
  std::vector<uint64_t> keys_;
  mutable std::mutex mutex_;
  mutable std::vector<uint64_t> offsets_;
  mutable std::vector<Chunk> chunks_;
  mutable uint64_t next_ = 0;  // where the search goes on, or the next record of the index
  mutable bool is_complete_ = false;
  mutable std::exception_ptr failure_;
};

}  // namespace thalweg::data
