#include "data/formats/row_spool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/file_error.h"

namespace thalweg::data {
namespace {

constexpr size_t kBufferSize = 256 * 1024;

int open_nameless(const std::string& beside) {
  const std::filesystem::path parent = std::filesystem::path(beside).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
#ifdef O_TMPFILE
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
#endif
  std::string name = folder + "/.rows-XXXXXX";  // not every file system has files without names
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

RowSpool::RowSpool(const std::string& beside)
    : Writer(kBufferSize), path_(beside), fd_(open_nameless(beside)) {
  if (fd_ < 0) fail_file("write", path_, errno);
}

RowSpool::~RowSpool() { ::close(fd_); }

void RowSpool::put(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_file("write", path_, n < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void RowSpool::read_back(FunctionRef<void(std::span<std::byte> piece)> take) {
  flush_buffer();
  std::vector<std::byte> buffer(static_cast<size_t>(std::min<uint64_t>(kPiece, offset())));
  for (uint64_t at = 0; at < offset();) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(buffer.size(), offset() - at));
    for (size_t done = 0; done < size;) {
      const ssize_t n =
          ::pread(fd_, buffer.data() + done, size - done, static_cast<off_t>(at + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail_file("read rows of", path_, n < 0 ? errno : EIO);
      done += static_cast<size_t>(n);
    }
    take(std::span(buffer).first(size));
    at += size;
  }
}

}  // namespace thalweg::data
