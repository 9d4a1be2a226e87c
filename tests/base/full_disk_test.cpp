// What happens on a disk that is full or read-only: each test mounts its own in a child process.

#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thalweg/base/error.h>
#include <thalweg/base/file.h>

#include "base/temp_dir.h"

namespace thalweg {
namespace {

constexpr int kNoMount = 77;

// Exit status of a child that runs `action` while a disk of 64 KiB is mounted at `folder`, which
// only the child sees.
int with_small_disk(const std::string& folder, const std::function<int()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    const bool mounted = (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") == 0;
    _exit(mounted ? action() : kNoMount);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// 0 if writing fails with this text and the old content is still there.
int expect_failed_write(const std::string& path, size_t size, const std::string& expected) {
  try {
    write_file(path, std::string(size, 'x'));
    return 1;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io || error.what() != expected) {
      std::fprintf(stderr, "found:    %s\nexpected: %s\n", error.what(), expected.c_str());
      return 2;
    }
  }
  return read_file(path) == "old" ? 0 : 3;
}

TEST(FullDisk, KeepsTheOldFileAndTellsTheFreeSpace) {
  const TempDir dir;
  const int status = with_small_disk(dir.path(), [&] {
    write_file(dir / "f", "old");
    return expect_failed_write(
        dir / "f", 100000,
        "write: No space left on device; " + dir / "f" + "; 60.0 KiB free in " + dir.path());
  });
  if (status == kNoMount) GTEST_SKIP() << "needs the right to mount a file system";
  EXPECT_EQ(status, 0);
}

TEST(FullDisk, AReadOnlyFolderKeepsTheOldFile) {
  const TempDir dir;
  const int status = with_small_disk(dir.path(), [&] {
    write_file(dir / "f", "old");
    mount(nullptr, dir.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr);
    return expect_failed_write(dir / "f", 10, "write: Read-only file system; " + dir / "f");
  });
  if (status == kNoMount) GTEST_SKIP() << "needs the right to mount a file system";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace thalweg
