#include "data/formats/zip.h"

#include <algorithm>
#include <numeric>

#include <zlib.h>

#include <thalweg/base/checksum.h>

#include "base/fail.h"

namespace thalweg::data {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr uint32_t kEntryMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;
constexpr size_t kLocalSize = 30;
constexpr size_t kEntrySize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kLocator64Size = 20;
constexpr size_t kEnd64Size = 56;
constexpr size_t kMaxComment = 0xFFFF;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kExtra64 = 1;
constexpr uint64_t kMaxInflation = 1032;  // of deflate
constexpr uint64_t kMax32 = 0xFFFFFFFF;

// Little-endian numbers one after the other.
class Fields {
 public:
  explicit Fields(Bytes bytes) : bytes_(bytes) {}

  size_t left() const { return bytes_.size(); }
  template <typename T>
  T next() {
    const T value = load_le<T>(bytes_.data());
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  void skip(size_t n) { bytes_ = bytes_.subspan(n); }
  Bytes take(size_t n) {
    const Bytes taken = bytes_.first(n);
    skip(n);
    return taken;
  }

 private:
  Bytes bytes_;
};

// Puts in the sizes that did not fit in 32 bits; false if they are not there.
bool read_extra64(Bytes extra, ZipEntry& entry) {
  for (Fields fields(extra); fields.left() >= 4;) {
    const auto kind = fields.next<uint16_t>();
    const auto size = fields.next<uint16_t>();
    if (size > fields.left()) return false;
    Fields values(fields.take(size));
    if (kind != kExtra64) continue;
    for (uint64_t* value : {&entry.size, &entry.packed_size, &entry.offset}) {
      if (*value != kMax32) continue;
      if (values.left() < 8) return false;
      *value = values.next<uint64_t>();
    }
    return true;
  }
  return entry.size != kMax32 && entry.packed_size != kMax32 && entry.offset != kMax32;
}

std::string inflate_raw(const std::string& packed, uint64_t size) {
  std::string content(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  uint64_t in_left = packed.size();
  uint64_t out_left = size;
  constexpr uint64_t kMaxCall = uint64_t{1} << 30;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.avail_in = static_cast<uInt>(std::min(in_left, kMaxCall));
    stream.avail_out = static_cast<uInt>(std::min(out_left, kMaxCall));
    const uint64_t in_before = stream.avail_in;
    const uint64_t out_before = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    in_left -= in_before - stream.avail_in;
    out_left -= out_before - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || out_left > 0 || in_left > 0) content.clear();
  return content;
}

}  // namespace

ZipArchive::ZipArchive(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
  read_entries(find_directory());
  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  std::ranges::sort(by_name_, {}, [&](uint32_t i) { return std::string_view(entries_[i].name); });
  for (size_t i = 1; i < by_name_.size(); ++i) {
    const std::string& name = entries_[by_name_[i]].name;
    if (name == entries_[by_name_[i - 1]].name)
      fail_io("zip: two entries have one name; {}: '{}'", source_->name(), name);
  }
}

ZipArchive::Directory ZipArchive::find_directory() const {
  const uint64_t size = source_->size();
  const uint64_t tail_size = std::min<uint64_t>(size, kEndSize + kMaxComment);
  std::string tail(tail_size, '\0');
  source_->read_at(size - tail_size, std::as_writable_bytes(std::span(tail)));
  for (size_t at = tail.size() < kEndSize ? 0 : tail.size() - kEndSize + 1; at-- > 0;) {
    Fields end(as_bytes(tail).subspan(at));
    if (end.next<uint32_t>() != kEndMagic) continue;
    end.skip(6);
    Directory directory;
    directory.entries = end.next<uint16_t>();
    directory.bytes = end.next<uint32_t>();
    directory.offset = end.next<uint32_t>();
    const uint64_t end_offset = size - tail_size + at;
    const bool is_64 =
        directory.offset == kMax32 || directory.bytes == kMax32 || directory.entries == 0xFFFF;
    if (is_64 && end_offset >= kLocator64Size + kEnd64Size) {
      std::byte bytes[kEnd64Size];
      source_->read_at(end_offset - kLocator64Size, std::span(bytes).first(kLocator64Size));
      Fields locator(bytes);
      if (locator.next<uint32_t>() == kLocator64Magic) {
        locator.skip(4);
        source_->read_at(std::min(locator.next<uint64_t>(), size), bytes);
        Fields end64(bytes);
        if (end64.next<uint32_t>() == kEnd64Magic) {
          end64.skip(28);
          directory.entries = end64.next<uint64_t>();
          directory.bytes = end64.next<uint64_t>();
          directory.offset = end64.next<uint64_t>();
        }
      }
    }
    if (directory.offset > end_offset || directory.bytes > end_offset - directory.offset ||
        directory.entries > directory.bytes / kEntrySize) {
      fail_io("zip: the directory does not fit in the file; {}: {} entries in {} bytes at byte {}",
              source_->name(), directory.entries, directory.bytes, directory.offset);
    }
    return directory;
  }
  fail_io("zip: no end of a directory is there; {}; is it a zip file, and complete?",
          source_->name());
}

void ZipArchive::check(const ZipEntry& entry) const {
  const auto fail_entry = [&](std::string_view what) {
    fail_io("zip: {}; {}: '{}'", what, source_->name(), entry.name);
  };
  if (entry.method != kStored && entry.method != kDeflated)
    fail_entry(fmt::format("method {} is neither stored (0) nor deflated (8)", entry.method));
  if (entry.packed_size > source_->size() || entry.offset > source_->size())
    fail_entry("the entry lies outside of the file");
  const bool fits = entry.method == kStored ? entry.size == entry.packed_size
                                            : entry.size <= entry.packed_size * kMaxInflation;
  if (!fits) {
    fail_entry(fmt::format("a size of {} bytes cannot be unpacked from {}", entry.size,
                           entry.packed_size));
  }
}

void ZipArchive::read_entries(const Directory& directory) {
  std::string text(directory.bytes, '\0');
  source_->read_at(directory.offset, std::as_writable_bytes(std::span(text)));
  Fields fields(as_bytes(text));
  for (uint64_t i = 0; i < directory.entries; ++i) {
    const uint64_t at = directory.offset + text.size() - fields.left();
    const auto fail_directory = [&] {
      fail_io("zip: the directory is damaged; {} at byte {}, entry {} of {}", source_->name(), at,
              i + 1, directory.entries);
    };
    if (fields.left() < kEntrySize) fail_directory();
    Fields entry(fields.take(kEntrySize));
    if (entry.next<uint32_t>() != kEntryMagic) fail_directory();
    entry.skip(4);
    const auto flags = entry.next<uint16_t>();
    ZipEntry found;
    found.method = entry.next<uint16_t>();
    entry.skip(4);
    found.crc = entry.next<uint32_t>();
    found.packed_size = entry.next<uint32_t>();
    found.size = entry.next<uint32_t>();
    const size_t name_size = entry.next<uint16_t>();
    const size_t extra_size = entry.next<uint16_t>();
    const size_t comment_size = entry.next<uint16_t>();
    entry.skip(8);
    found.offset = entry.next<uint32_t>();
    if (fields.left() < name_size + extra_size + comment_size) fail_directory();
    found.name = as_text(fields.take(name_size));
    if (!read_extra64(fields.take(extra_size), found)) fail_directory();
    fields.skip(comment_size);
    if ((flags & kEncrypted) != 0)
      fail_io("zip: the entry is encrypted; {}: '{}'", source_->name(), found.name);
    check(found);
    entries_.push_back(std::move(found));
  }
}

std::optional<size_t> ZipArchive::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      by_name_, name, {}, [&](uint32_t i) { return std::string_view(entries_[i].name); });
  if (found == by_name_.end() || entries_[*found].name != name) return std::nullopt;
  return *found;
}

uint64_t ZipArchive::content_offset(size_t number) const {
  const ZipEntry& entry = entries_[number];
  std::byte bytes[kLocalSize];
  source_->read_at(entry.offset, bytes);
  Fields local(bytes);
  const auto magic = local.next<uint32_t>();
  local.skip(22);
  const size_t name_size = local.next<uint16_t>();
  const size_t extra_size = local.next<uint16_t>();
  std::string name(magic == kLocalMagic ? name_size : 0, '\0');
  source_->read_at(entry.offset + kLocalSize, std::as_writable_bytes(std::span(name)));
  if (name != entry.name) {
    fail_io("zip: the entry differs from the directory; {} at byte {}: expected '{}', found '{}'",
            source_->name(), entry.offset, entry.name, name);
  }
  return entry.offset + kLocalSize + name_size + extra_size;
}

std::string ZipArchive::read(size_t number) const {
  const ZipEntry& entry = entries_[number];
  const uint64_t offset = content_offset(number);
  if (entry.packed_size > source_->size() - std::min(source_->size(), offset)) {
    fail_io("zip: the file ends inside the entry; {}: '{}' at byte {}: expected {} bytes",
            source_->name(), entry.name, offset, entry.packed_size);
  }
  std::string content(entry.packed_size, '\0');
  source_->read_at(offset, std::as_writable_bytes(std::span(content)));
  if (entry.method == kDeflated) content = inflate_raw(content, entry.size);
  if (content.size() != entry.size || crc32(as_bytes(content)) != entry.crc) {
    fail_io("zip: the entry is damaged; {}: '{}' at byte {}", source_->name(), entry.name,
            entry.offset);
  }
  return content;
}

void ZipWriter::write(const std::string& name, Bytes content) {
  begin(name, content.size(), crc32(content));
  file_.write(content);
}

void ZipWriter::begin(const std::string& name, uint64_t size, uint32_t crc) {
  const ZipEntry entry{name, file_.offset(), size, size, crc, kStored};
  const bool is_64 = size >= kMax32;
  const auto size32 = static_cast<uint32_t>(std::min<uint64_t>(size, kMax32));
  file_.write_le(kLocalMagic);
  file_.write_le(uint16_t{45});  // the version that has 64-bit sizes
  file_.write_le(uint16_t{0});
  file_.write_le(kStored);
  file_.write_le(uint32_t{0x00210000});  // midnight, 1 January 1980
  file_.write_le(entry.crc);
  file_.write_le(size32);
  file_.write_le(size32);
  file_.write_le(static_cast<uint16_t>(name.size()));
  file_.write_le(static_cast<uint16_t>(is_64 ? 20 : 0));
  file_.write(name);
  if (is_64) {
    file_.write_le(kExtra64);
    file_.write_le(uint16_t{16});
    file_.write_le(entry.size);
    file_.write_le(entry.size);
  }
  entries_.push_back(entry);
}

void ZipWriter::finish() {
  const uint64_t begin = file_.offset();
  for (const ZipEntry& entry : entries_) {
    const bool is_64 = entry.size >= kMax32 || entry.offset >= kMax32;
    const auto or_max = [&](uint64_t value) {
      return static_cast<uint32_t>(is_64 ? kMax32 : value);
    };
    file_.write_le(kEntryMagic);
    file_.write_le(uint16_t{45});
    file_.write_le(uint16_t{45});
    file_.write_le(uint16_t{0});
    file_.write_le(kStored);
    file_.write_le(uint32_t{0x00210000});
    file_.write_le(entry.crc);
    file_.write_le(or_max(entry.size));
    file_.write_le(or_max(entry.size));
    file_.write_le(static_cast<uint16_t>(entry.name.size()));
    file_.write_le(static_cast<uint16_t>(is_64 ? 28 : 0));
    for (int i = 0; i < 3; ++i) file_.write_le(uint16_t{0});
    file_.write_le(uint32_t{0});
    file_.write_le(or_max(entry.offset));
    file_.write(entry.name);
    if (!is_64) continue;
    file_.write_le(kExtra64);
    file_.write_le(uint16_t{24});
    for (uint64_t value : {entry.size, entry.size, entry.offset}) file_.write_le(value);
  }
  const uint64_t end = file_.offset();
  const bool is_64 = end >= kMax32 || entries_.size() >= 0xFFFF;
  if (is_64) {
    file_.write_le(kEnd64Magic);
    file_.write_le(uint64_t{kEnd64Size - 12});
    file_.write_le(uint16_t{45});
    file_.write_le(uint16_t{45});
    file_.write_le(uint64_t{0});
    for (uint64_t value : {entries_.size(), entries_.size(), end - begin, begin})
      file_.write_le(static_cast<uint64_t>(value));
    file_.write_le(kLocator64Magic);
    file_.write_le(uint32_t{0});
    file_.write_le(end);
    file_.write_le(uint32_t{1});
  }
  const auto count = static_cast<uint16_t>(is_64 ? 0xFFFF : entries_.size());
  file_.write_le(kEndMagic);
  file_.write_le(uint32_t{0});
  file_.write_le(count);
  file_.write_le(count);
  file_.write_le(static_cast<uint32_t>(is_64 ? kMax32 : end - begin));
  file_.write_le(static_cast<uint32_t>(is_64 ? kMax32 : begin));
  file_.write_le(uint16_t{0});
}

}  // namespace thalweg::data
