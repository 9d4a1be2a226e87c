#pragma once

// RecordIO, the record file of dmlc and MXNet: each record is one or more parts of
//   u32 CED7230A (the magic) | u32 kind << 29 | size | payload | zeros to a multiple of 4 bytes
// with the lowest byte of numbers first.
// Where a payload holds the magic at a multiple of 4 bytes, it is cut there and the magic left out,
// so that an aligned magic in a file is always the start of a part.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <thalweg/base/reader.h>
#include <thalweg/base/writer.h>

namespace thalweg::data {

/// Records one after the other. Every fault of the file is an Error{io} with the byte; the records
/// before it were given.
class THALWEG_API RecordReader {
 public:
  /// All records of a file, plain or gzip.
  explicit RecordReader(const std::string& path);
  /// Those that begin in the bytes [begin, end) of a plain file; the cuts may be anywhere. Readers
  /// of ranges that cover a file give each record once.
  RecordReader(const std::string& path, uint64_t begin, uint64_t end);
  /// All records in memory that outlives the reader; `name` is what errors blame.
  RecordReader(Bytes bytes, std::string name);

  /// The next record; false at the end.
  bool next(std::string& record);

  /// Where the record that was given last begins.
  uint64_t offset() const { return record_offset_; }

 private:
  uint64_t position() const { return begin_ + reader_->offset(); }
  bool read_part(bool in_record, std::string& record);
  void find_first();

  std::unique_ptr<Reader> reader_;
  uint64_t begin_ = 0;  // where the reader's first byte lies in the file
  uint64_t end_ = UINT64_MAX;
  uint64_t record_offset_ = 0;
};

/// Writes a file of records as a whole (see AtomicFile), and an index of it.
class THALWEG_API RecordWriter {
 public:
  /// `index_path` "": no index.
  explicit RecordWriter(const std::string& path, const std::string& index_path = "");

  /// Appends a record; `key` is what the index calls it. Throws Error{invalid} for one of 2^29
  /// bytes or more. Returns where it begins.
  uint64_t write(Bytes record, uint64_t key);
  uint64_t write(Bytes record) { return write(record, records_); }

  /// Once, as the last call.
  void commit();

 private:
  AtomicFile file_;
  std::unique_ptr<AtomicFile> index_;
  uint64_t records_ = 0;
};

/// A line of an index: `key TAB offset`.
struct RecordPlace {
  uint64_t key = 0;
  uint64_t offset = 0;
};

/// The lines of an index file, in their order. Errors of kind io give the line.
THALWEG_API std::vector<RecordPlace> read_record_index(const std::string& path);

/// What MXNet packs into one record: labels, two numbers, and the bytes of a JPEG, PNG or anything.
struct ImageRecord {
  std::vector<float> labels;  // one as the scalar, others as the list of the format
  uint64_t id = 0;
  uint64_t id2 = 0;
  Bytes content;  // of the record it was parsed from
};

/// Throws Error{io}, naming `where`, for a record that is too short for its labels.
THALWEG_API ImageRecord parse_image_record(Bytes record, const std::string& where);

/// The bytes of a record. No label at all cannot be told from the label 0, and is written so.
THALWEG_API std::string pack_image_record(const ImageRecord& record);

}  // namespace thalweg::data
