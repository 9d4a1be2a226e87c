#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thalweg/base/file.h>
#include <thalweg/base/writer.h>

#include "base/fail.h"
#include "base/file_error.h"

namespace thalweg {
namespace {

// Read and write calls move less than 2 GiB at a time.
constexpr size_t kMaxCall = size_t{1} << 30;

constexpr size_t kGrowth = 64 * 1024;

[[noreturn]] void fail_too_large(const std::string& path, uint64_t size, uint64_t max_bytes) {
  fail_io("read: file is larger than allowed; {}: {} bytes, at most {}", path, size, max_bytes);
}

}  // namespace

File::File(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) fail_file("open", path_, errno);
  struct stat info;
  if (::fstat(fd_, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(fd_);
    fail_file("open", path_, EISDIR);
  }
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

uint64_t File::size() const {
  struct stat info;
  if (::fstat(fd_, &info) != 0) fail_file("stat", path_, errno);
  return S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0;
}

void File::read_at(uint64_t offset, std::span<std::byte> into) const {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t n = ::pread(fd_, into.data() + done, std::min(into.size() - done, kMaxCall),
                              static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_file("read", path_, errno);
    if (n == 0) {
      fail_io("read: file ends early; {} at byte {}: expected {} bytes, found {}", path_, offset,
              into.size(), done);
    }
    done += static_cast<size_t>(n);
  }
}

size_t File::read_next(std::span<std::byte> into) {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t n = ::read(fd_, into.data() + done, std::min(into.size() - done, kMaxCall));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_file("read", path_, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

// One byte more than the size is asked for, to see the end; what is longer than it said, as pipes
// and files that grow are, is read piece by piece.
std::string read_file(const std::string& path, uint64_t max_bytes) {
  File file(path);
  const uint64_t size = file.size();
  if (size > max_bytes) fail_too_large(path, size, max_bytes);
  std::string content;
  size_t used = 0;
  size_t wanted = static_cast<size_t>(size) + 1;
  while (true) {
    content.resize(wanted);
    used += file.read_next(std::as_writable_bytes(std::span(content).subspan(used)));
    if (used > max_bytes) fail_too_large(path, used, max_bytes);
    if (used < wanted) break;
    wanted += std::max(kGrowth, wanted / 2);
  }
  content.resize(used);
  return content;
}

MappedFile::MappedFile(const std::string& path) {
  const File file(path);
  const uint64_t size = file.size();
  if (size == 0) return;  // nothing to map, and mmap refuses it
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.fd_, 0);
  if (at == MAP_FAILED) fail_file("map", path, errno);
  bytes_ = {static_cast<const std::byte*>(at), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace thalweg
