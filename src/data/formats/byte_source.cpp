#include "data/formats/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thalweg/base/file.h>
#include <thalweg/base/reader.h>

#include "base/fail.h"
#include "base/file_error.h"

namespace thalweg::data {
namespace {

struct FileStamp {
  uint64_t size = 0;
  int64_t seconds = 0;
  int64_t nanoseconds = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

FileStamp stamp_of(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) fail_file("stat", path, errno);
  return {static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(const std::string& path)
      : ByteSource(path), file_(path), stamp_(stamp_of(path)) {}

  size_t read_some_at(uint64_t offset, std::span<std::byte> into) const override {
    if (stamp_of(name()) != stamp_) {
      fail_io(
          "read: the file has changed since it was opened; {}; open it anew when it is complete",
          name());
    }
    const uint64_t left = stamp_.size - std::min(stamp_.size, offset);
    const auto n = static_cast<size_t>(std::min<uint64_t>(left, into.size()));
    file_.read_at(offset, into.first(n));
    return n;
  }

  uint64_t size() const override { return stamp_.size; }

 private:
  File file_;
  FileStamp stamp_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(Bytes bytes, const std::string& name) : ByteSource(name), bytes_(bytes) {}

  size_t read_some_at(uint64_t offset, std::span<std::byte> into) const override {
    const Bytes from = bytes_.subspan(std::min<uint64_t>(offset, bytes_.size()));
    const size_t n = std::min(from.size(), into.size());
    std::copy_n(from.begin(), n, into.begin());
    return n;
  }

  uint64_t size() const override { return bytes_.size(); }

 private:
  Bytes bytes_;
};

// A file that goes when it is closed, whatever becomes of the process.
class UnnamedFile {
 public:
  UnnamedFile() {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr && *folder != 0 ? folder : "/tmp") +
            "/thalweg-unpacked-XXXXXX";
    fd_ = ::mkostemp(path_.data(), O_CLOEXEC);
    if (fd_ < 0) fail_file("make a temporary file", path_, errno);
    ::unlink(path_.c_str());
  }
  ~UnnamedFile() { ::close(fd_); }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  void append(Bytes bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_file("unpack into a temporary file", path_, errno);
      bytes = bytes.subspan(static_cast<size_t>(n));
    }
  }

  void read_at(uint64_t offset, std::span<std::byte> into) const {
    while (!into.empty()) {
      const ssize_t n = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail_file("read", path_, n < 0 ? errno : EIO);
      into = into.subspan(static_cast<size_t>(n));
      offset += static_cast<uint64_t>(n);
    }
  }

 private:
  std::string path_;
  int fd_ = -1;
};

class PackedSource final : public ByteSource {
 public:
  explicit PackedSource(std::unique_ptr<Reader> reader)
      : ByteSource(reader->name()), reader_(std::move(reader)), buffer_(kBufferSize) {}

  size_t read_some_at(uint64_t offset, std::span<std::byte> into) const override {
    const uint64_t wanted = into.size();
    const uint64_t end = unpack_to(offset > UINT64_MAX - wanted ? UINT64_MAX : offset + wanted);
    const uint64_t left = end - std::min(end, offset);
    const auto n = static_cast<size_t>(std::min<uint64_t>(left, into.size()));
    unpacked_.read_at(offset, into.first(n));
    return n;
  }

  uint64_t size() const override { return unpack_to(UINT64_MAX); }
  uint64_t max_size() const override { return UINT64_MAX; }

 private:
  static constexpr size_t kBufferSize = 256 * 1024;

  // Returns how far it is unpacked: to `end`, or the end of the data.
  uint64_t unpack_to(uint64_t end) const {
    const std::lock_guard lock(mutex_);
    try {
      while (size_ < end && !is_complete_) unpack_more();
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
    return size_;
  }

  void unpack_more() const {
    if (failure_) std::rethrow_exception(failure_);
    const size_t n = reader_->read_some(buffer_);
    unpacked_.append(Bytes(buffer_).first(n));
    size_ += n;
    is_complete_ = n < buffer_.size();
  }

  mutable std::mutex mutex_;
  std::unique_ptr<Reader> reader_;
  mutable std::vector<std::byte> buffer_;
  mutable UnnamedFile unpacked_;
  mutable uint64_t size_ = 0;
  mutable bool is_complete_ = false;
  mutable std::exception_ptr failure_;  // a damaged file stays one
};

}  // namespace

void ByteSource::read_at(uint64_t offset, std::span<std::byte> into) const {
  const size_t n = read_some_at(offset, into);
  if (n < into.size()) {
    fail_io("read: data end early; {} at byte {}: expected {} bytes, found {}", name(), offset,
            into.size(), n);
  }
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  // A reader that knows how much is to come reads the file as it is.
  auto reader = open_reader(path);
  if (reader->remaining() || reader->at_end()) return std::make_unique<PlainSource>(path);
  return std::make_unique<PackedSource>(std::move(reader));
}

std::unique_ptr<ByteSource> open_source(Bytes bytes, const std::string& name) {
  return std::make_unique<MemorySource>(bytes, name);
}

std::unique_ptr<ByteSource> unpacked_source(const std::string& bytes, const std::string& name) {
  auto source =
      std::make_unique<PackedSource>(std::make_unique<MemoryReader>(as_bytes(bytes), name));
  source->size();  // the reader's memory goes
  return source;
}

uint64_t start_of_text(const char* operation, const ByteSource& source) {
  std::byte start[4];
  const size_t n = source.read_some_at(0, start);
  const std::string_view text = as_text(Bytes(start, n));
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
      text == std::string_view("\0\0\xfe\xff", 4)) {
    fail_io(
        "{}: the file begins with a byte-order mark of UTF-16 or UTF-32; {}; convert it to "
        "UTF-8, e.g. with iconv",
        operation, source.name());
  }
  const uint64_t begin = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  if (n == begin) fail_io("{}: the file is empty; {}", operation, source.name());
  return begin;
}

}  // namespace thalweg::data
