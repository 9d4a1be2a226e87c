#include <algorithm>
#include <charconv>

#include <thalweg/base/file.h>
#include <thalweg/data/recordio.h>

#include "base/fail.h"
#include "data/formats/range_reader.h"
#include "data/formats/recordio_part.h"

namespace thalweg::data {
namespace {

constexpr size_t kImageHeader = 24;  // u32 flag, f32 label, u64 id, u64 id2

std::string_view magic_text() {
  static constexpr char kMagic[] = {'\x0a', '\x23', '\xd7', '\xce'};
  return {kMagic, sizeof(kMagic)};
}

[[noreturn]] void fail_end(const std::string& name, uint64_t offset, uint64_t record,
                           uint64_t expected, uint64_t found) {
  fail_io(
      "recordio: the file ends inside a record; {} at byte {}, in the record at byte {}: "
      "expected {} bytes, found {}",
      name, offset, record, expected, found);
}

}  // namespace

PartHeader parse_part_header(Bytes bytes, bool in_record, const std::string& name,
                             uint64_t offset) {
  const auto magic = load_le<uint32_t>(bytes.data());
  const auto word = load_le<uint32_t>(bytes.data() + 4);
  const PartHeader header{word >> 29, word & kMaxPart};
  if (magic != kRecordMagic) {
    fail_io(
        "recordio: wrong magic number; {} at byte {}: expected {:08X}, found {:08X}; is it a "
        "RecordIO file?",
        name, offset, kRecordMagic, magic);
  }
  if (header.kind > 3 || header.begins_record() == in_record) {
    fail_io(
        "recordio: parts do not follow each other; {} at byte {}: expected a part of kind {}, "
        "found kind {}",
        name, offset, in_record ? "2 or 3, which goes on with the record before it" : "0 or 1",
        header.kind);
  }
  return header;
}

Bytes parse_record(Bytes bytes, std::string& joined, const std::string& name, uint64_t offset) {
  joined.clear();
  for (uint64_t at = 0;;) {
    const uint64_t left = bytes.size() - at;
    if (left < kPartHeader) fail_end(name, offset + at, offset, kPartHeader, left);
    const PartHeader part =
        parse_part_header(bytes.subspan(at, kPartHeader), at > 0, name, offset + at);
    at += kPartHeader;
    if (part.padded() > left - kPartHeader)
      fail_end(name, offset + at, offset, part.padded(), left - kPartHeader);
    const Bytes payload = bytes.subspan(at, part.size);
    if (part.kind == static_cast<uint32_t>(PartKind::whole)) return payload;
    if (!part.begins_record()) joined += magic_text();
    joined += as_text(payload);
    if (part.ends_record()) return as_bytes(joined);
    at += part.padded();
  }
}

RecordReader::RecordReader(const std::string& path) : reader_(open_reader(path)) {}

RecordReader::RecordReader(const std::string& path, uint64_t begin, uint64_t end)
    : reader_(open_range(path, begin)), begin_(begin), end_(end) {
  if (begin > 0) find_first();
}

RecordReader::RecordReader(Bytes bytes, std::string name)
    : reader_(open_reader(bytes, std::move(name))) {}

// Goes to the first record that begins at or after the range's start: an aligned magic whose part
// is not the rest of another record.
void RecordReader::find_first() {
  reader_->skip(std::min((4 - begin_ % 4) % 4, *reader_->remaining()));
  while (*reader_->remaining() >= kPartHeader && position() < end_) {
    const uint64_t at = position();
    std::byte word[4];
    reader_->read(word);
    if (load_le<uint32_t>(word) != kRecordMagic) continue;
    reader_->read(word);
    if (load_le<uint32_t>(word) >> 30 != 0) continue;
    reader_ = open_range(reader_->name(), at);
    begin_ = at;
    return;
  }
  end_ = 0;
}

// Appends the payload of the next part; returns whether the record ends with it.
bool RecordReader::read_part(bool in_record, std::string& record) {
  const uint64_t offset = position();
  std::byte bytes[kPartHeader];
  const size_t found = reader_->read_some(bytes);
  if (found < kPartHeader) fail_end(reader_->name(), offset, record_offset_, kPartHeader, found);
  const PartHeader part = parse_part_header(bytes, in_record, reader_->name(), offset);
  if (const auto left = reader_->remaining(); left && *left < part.padded())
    fail_end(reader_->name(), position(), record_offset_, part.padded(), *left);
  if (in_record) record += magic_text();
  record += reader_->read_string(part.padded());
  record.resize(record.size() - (part.padded() - part.size));
  return part.ends_record();
}

bool RecordReader::next(std::string& record) {
  record.clear();
  if (position() >= end_ || reader_->at_end()) return false;
  record_offset_ = position();
  for (bool in_record = false; !read_part(in_record, record);) in_record = true;
  return true;
}

RecordWriter::RecordWriter(const std::string& path, const std::string& index_path) : file_(path) {
  if (!index_path.empty()) index_ = std::make_unique<AtomicFile>(index_path);
}

uint64_t RecordWriter::write(Bytes record, uint64_t key) {
  if (record.size() > kMaxPart) {
    fail_invalid("recordio: a record of {} bytes is too long; the format holds {} at most",
                 record.size(), kMaxPart);
  }
  const uint64_t offset = file_.offset();
  const std::string_view magic = magic_text();
  const auto write_part = [&](PartKind kind, Bytes payload) {
    file_.write(magic);
    file_.write_le(static_cast<uint32_t>(kind) << 29 | static_cast<uint32_t>(payload.size()));
    file_.write(payload);
    file_.write(std::string_view("\0\0\0", (4 - payload.size() % 4) % 4));
  };
  size_t begin = 0;
  for (size_t at = 0; at + 4 <= record.size(); at += 4) {
    if (as_text(record.subspan(at, 4)) != magic) continue;
    write_part(file_.offset() == offset ? PartKind::first : PartKind::middle,
               record.subspan(begin, at - begin));
    begin = at + 4;
  }
  write_part(file_.offset() == offset ? PartKind::whole : PartKind::last, record.subspan(begin));
  if (index_) index_->write(fmt::format("{}\t{}\n", key, offset));
  ++records_;
  return offset;
}

void RecordWriter::commit() {
  file_.commit();
  if (index_) index_->commit();
}

std::vector<RecordPlace> read_record_index(const std::string& path) {
  const auto reader = open_reader(path);
  std::vector<RecordPlace> places;
  std::string line;
  for (int64_t number = 1; reader->read_line(line, 1024); ++number) {
    if (line.empty()) continue;
    RecordPlace place;
    const char* end = line.data() + line.size();
    const auto key = std::from_chars(line.data(), end, place.key);
    const bool has_key = key.ec == std::errc() && key.ptr != end && *key.ptr == '\t';
    const auto offset = std::from_chars(has_key ? key.ptr + 1 : end, end, place.offset);
    if (!has_key || offset.ec != std::errc() || offset.ptr != end) {
      fail_io("recordio: malformed index; {}:{}: expected 'key TAB byte offset', found '{}'", path,
              number, line);
    }
    places.push_back(place);
  }
  return places;
}

ImageRecord parse_image_record(Bytes record, const std::string& where) {
  if (record.size() < kImageHeader) {
    fail_io("recordio: not an image record; {}: expected a header of {} bytes, found {}", where,
            kImageHeader, record.size());
  }
  ImageRecord image;
  const auto flag = load_le<uint32_t>(record.data());
  image.id = load_le<uint64_t>(record.data() + 8);
  image.id2 = load_le<uint64_t>(record.data() + 16);
  image.content = record.subspan(kImageHeader);
  if (flag == 0) {
    image.labels = {load_le<float>(record.data() + 4)};
    return image;
  }
  if (flag > image.content.size() / 4) {
    fail_io("recordio: image record ends inside its labels; {}: expected {} labels, found {} bytes",
            where, flag, image.content.size());
  }
  image.labels.resize(flag);
  for (size_t i = 0; i < flag; ++i) image.labels[i] = load_le<float>(image.content.data() + 4 * i);
  image.content = image.content.subspan(size_t{4} * flag);
  return image;
}

std::string pack_image_record(const ImageRecord& record) {
  MemoryWriter writer;
  const bool is_scalar = record.labels.size() <= 1;
  writer.write_le(is_scalar ? uint32_t{0} : static_cast<uint32_t>(record.labels.size()));
  writer.write_le(is_scalar && !record.labels.empty() ? record.labels[0] : 0.0f);
  writer.write_le(record.id);
  writer.write_le(record.id2);
  if (!is_scalar)
    for (float label : record.labels) writer.write_le(label);
  writer.write(record.content);
  return std::string(as_text(writer.bytes()));
}

}  // namespace thalweg::data
