#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thalweg/base/writer.h>

#include "base/fail.h"
#include "base/file_error.h"

namespace thalweg {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferSize = 256 * 1024;
constexpr size_t kMaxCall = size_t{1} << 30;

// Unlike fs::canonical also for a link to a file that is yet to be made.
fs::path resolve_links(const std::string& path) {
  constexpr int kMaxLinks = 40;  // the kernel's own limit
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < kMaxLinks; ++i) {
    if (!fs::is_symlink(at, error)) return at;
    at = at.parent_path() / fs::read_symlink(at, error);
  }
  fail_file("write", path, ELOOP);
}

// Renaming onto a device, such as /dev/null, would replace it for everybody.
void refuse_special(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) fail_file("write", path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fail_io("write: not a regular file; {}", path);
  }
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string temporary_prefix(const std::string& path) {
  return "." + fs::path(path).filename().string() + ".";
}

std::string next_temporary(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  return fmt::format("{}/{}{}-{}.tmp", folder_of(path), temporary_prefix(path), ::getpid(),
                     ++count);
}

// ".NAME.123-4.tmp" with the given prefix ".NAME.".
bool is_temporary(std::string_view name, std::string_view prefix) {
  constexpr std::string_view kSuffix = ".tmp";
  if (name.size() <= prefix.size() + kSuffix.size()) return false;
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(kSuffix.size());
  return name.find_first_not_of("0123456789-") == std::string_view::npos;
}

// A writer holds a lock on its temporary, which ends with its process: what can be locked is
// nobody's. Nothing here is worth an error.
void remove_abandoned(const std::string& path) {
  const std::string prefix = temporary_prefix(path);
  std::error_code error;
  for (fs::directory_iterator at(folder_of(path), error), end; !error && at != end;
       at.increment(error)) {
    if (!is_temporary(at->path().filename().native(), prefix)) continue;
    const int fd = ::open(at->path().c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(at->path().c_str());
    ::close(fd);
  }
}

// Locked before anything is in it. That another process took it for abandoned in between shows in
// its having no name any more.
int create_locked(const std::string& temporary) {
  while (true) {
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    struct stat info;
    const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && ::fstat(fd, &info) == 0 && info.st_nlink > 0) return fd;
    ::close(fd);
    ::unlink(temporary.c_str());
  }
}

// Without this a power cut may undo the renaming. Some file systems do not do it for folders, with
// EINVAL, and need not.
void sync_folder(const std::string& path) {
  const int fd = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder may be closed to listing and still open to writing
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (error != 0 && error != EINVAL) fail_file("sync folder of", path, error);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path)
    : Writer(kBufferSize), path_(resolve_links(path)), temporary_(next_temporary(path_)) {
  refuse_special(path_);
  remove_abandoned(path_);
  fd_ = create_locked(temporary_);
  if (fd_ < 0) fail_file("write", path_, errno);
}

AtomicFile::~AtomicFile() { remove_temporary(); }

void AtomicFile::remove_temporary() noexcept {
  if (fd_ < 0) return;
  ::unlink(temporary_.c_str());
  ::close(std::exchange(fd_, -1));
}

void AtomicFile::put(Bytes bytes) {
  THALWEG_ASSERT(fd_ >= 0);
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxCall));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : EIO;
      remove_temporary();  // first, so that the free space told is what the next attempt will find
      fail_file("write", path_, error);
    }
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void AtomicFile::commit() {
  flush_buffer();
  THALWEG_ASSERT(fd_ >= 0);
  if (::fsync(fd_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    remove_temporary();
    fail_file("write", path_, error);
  }
  ::close(std::exchange(fd_, -1));
  sync_folder(path_);
}

}  // namespace thalweg
