#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thalweg/base/file.h>
#include <thalweg/base/writer.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(AtomicFile, MakesAndReplacesFiles) {
  const TempDir dir;
  write_file(dir / "f", "first");
  EXPECT_EQ(dir.read("f"), "first");
  write_file(dir / "f", "second");
  EXPECT_EQ(dir.read("f"), "second");
  EXPECT_EQ(names_in(dir.path()), Names{"f"});
}

TEST(AtomicFile, WritesPiecesOfAllSizesInOrder) {
  const TempDir dir;
  AtomicFile file(dir / "f");
  std::string expected;
  for (size_t size : {1, 100, 0, 300000, 7, 262144, 262143, 2}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    file.write(piece);
    expected += piece;
  }
  EXPECT_EQ(file.offset(), expected.size());
  file.commit();
  EXPECT_EQ(dir.read("f"), expected);
}

TEST(AtomicFile, WithoutCommitTheOldFileStays) {
  const TempDir dir;
  dir.write("f", "old");
  {
    AtomicFile file(dir / "f");
    file.write(std::string(1000000, 'x'));
    EXPECT_EQ(dir.read("f"), "old");
  }
  EXPECT_EQ(dir.read("f"), "old");
  EXPECT_EQ(names_in(dir.path()), Names{"f"});
}

TEST(AtomicFile, ASymbolicLinkStaysAndItsFileIsReplaced) {
  const TempDir dir;
  dir.write("disk/f", "old");
  fs::create_symlink("disk/f", dir / "link");
  fs::create_symlink("disk/new", dir / "dangling");
  write_file(dir / "link", "new");
  write_file(dir / "dangling", "made");
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(dir.read("disk/f"), "new");
  EXPECT_EQ(dir.read("disk/new"), "made");
  EXPECT_EQ(names_in(dir / "disk"), (Names{"f", "new"}));
}

TEST(AtomicFile, TakesAPathWithoutFolder) {
  const TempDir dir;
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  write_file("f", "content");
  fs::current_path(before);
  EXPECT_EQ(dir.read("f"), "content");
}

TEST(AtomicFile, RefusesFoldersDevicesAndMissingFolders) {
  const TempDir dir;
  EXPECT_EQ(error_text(ErrorKind::io, [&] { write_file(dir.path(), ""); }),
            "write: Is a directory; " + dir.path());
  EXPECT_EQ(error_text(ErrorKind::io, [] { write_file("/dev/null", ""); }),
            "write: not a regular file; /dev/null");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { write_file(dir / "no/f", ""); }),
            "write: No such file or directory; " + dir / "no/f");
}

// A limit on the size of files, as `ulimit -f` sets: write() is cut short, then fails with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

TEST(AtomicFile, AFailedWriteLeavesTheOldFileAndNoTemporary) {
  const TempDir dir;
  dir.write("f", "old");
  for (size_t size : {100001, 1000000}) {  // fails in commit(), in write()
    std::string text;
    {
      const FileSizeLimit limit(100000);
      text = error_text(ErrorKind::io, [&] { write_file(dir / "f", std::string(size, 'x')); });
    }
    EXPECT_EQ(text, "write: File too large; " + dir / "f" +
                        "; the limit on a file's size is reached (ulimit -f)");
    EXPECT_EQ(dir.read("f"), "old");
    EXPECT_EQ(names_in(dir.path()), Names{"f"});
  }
}

TEST(AtomicFile, KilledAnywhereLeavesOneOfTheContentsWhole) {
  const TempDir dir;
  const auto content = [](int version) {
    return std::string(400000, static_cast<char>('a' + version % 26));
  };
  write_file(dir / "f", content(0));
  for (int kill_after_us = 0; kill_after_us < 4000; kill_after_us += 200) {
    const pid_t child = fork();
    if (child == 0)
      for (int version = 1;; ++version) write_file(dir / "f", content(version));
    usleep(static_cast<useconds_t>(kill_after_us));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const std::string found = dir.read("f");
    ASSERT_EQ(found.size(), 400000u);
    ASSERT_EQ(found.find_first_not_of(found[0]), std::string::npos);
  }
  write_file(dir / "f", "last");
  EXPECT_EQ(names_in(dir.path()), Names{"f"});
}

TEST(AtomicFile, LeavesOtherWritersTemporariesAndOtherFilesAlone) {
  const TempDir dir;
  const Names others{".f.12.tmp.bak", ".f.1x.tmp", ".f.old.tmp", ".g.1-1.tmp"};
  for (const std::string& name : others) dir.write(name, "");
  AtomicFile alive(dir / "f");
  alive.write("alive");
  write_file(dir / "f", "other");
  alive.commit();
  EXPECT_EQ(dir.read("f"), "alive");
  Names expected = others;
  expected.push_back("f");
  EXPECT_EQ(names_in(dir.path()), expected);
}

}  // namespace
}  // namespace thalweg
