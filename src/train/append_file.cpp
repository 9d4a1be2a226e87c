#include "train/append_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file_error.h"

namespace thalweg::train {

AppendFile::AppendFile(std::string path, Mode mode) : path_(std::move(path)) {
  const int flags = mode == Mode::create ? O_CREAT | O_EXCL : 0;
  fd_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
  if (fd_ < 0) fail_file(mode == Mode::create ? "create" : "open", path_, errno);
  size_ = lseek(fd_, 0, SEEK_END);
}

AppendFile::~AppendFile() { close(fd_); }

void AppendFile::lock() {
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0)
    fail_io("run folder: cannot lock {}; {}; another process may be writing this run", path_,
            std::strerror(errno));
}

void AppendFile::append(std::string_view bytes) {
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t written = write(fd_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = errno;
      // Should even this fail, the torn end is dropped by whoever opens the file next.
      [[maybe_unused]] const int status = ftruncate(fd_, size_);
      fail_file("append", path_, error);
    }
    left.remove_prefix(static_cast<size_t>(written));
  }
  size_ += static_cast<int64_t>(bytes.size());
}

void AppendFile::truncate(int64_t size) {
  if (ftruncate(fd_, size) != 0) fail_file("shorten", path_, errno);
  size_ = size;
}

void AppendFile::sync() {
  if (fdatasync(fd_) != 0) fail_file("sync", path_, errno);
}

}  // namespace thalweg::train
