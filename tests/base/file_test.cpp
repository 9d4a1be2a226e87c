#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thalweg/base/file.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg {
namespace {

const std::string kNul("a\0b\n\xff", 5);

TEST(File, ReadsWholeFilesOfAllSizes) {
  const TempDir dir;
  EXPECT_EQ(read_file(dir.write("nul", kNul)), kNul);
  for (size_t size : {0, 1, 65535, 65536, 65537, 3000000}) {
    const std::string content(size, 'x');
    EXPECT_EQ(read_file(dir.write("f", content)), content);
  }
}

TEST(File, ReadsWhatHasNoSizeOfItsOwn) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
  const TempDir dir;
  const std::string pipe = dir / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string content(200000, 'p');
  std::thread writer([&] {
    FILE* file = std::fopen(pipe.c_str(), "wb");
    std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
  });
  EXPECT_EQ(read_file(pipe), content);
  writer.join();
}

TEST(File, RefusesMoreThanAllowed) {
  const TempDir dir;
  const std::string path = dir.write("f", "123456");
  EXPECT_EQ(read_file(path, 6), "123456");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { read_file(path, 5); }),
            "read: file is larger than allowed; " + path + ": 6 bytes, at most 5");
  error_text(ErrorKind::io, [] { read_file("/proc/self/status", 5); });
}

TEST(File, NamesWhatItCannotOpenAndWhy) {
  const TempDir dir;
  const std::string missing = dir / "missing";
  EXPECT_EQ(error_text(ErrorKind::io, [&] { read_file(missing); }),
            "open: No such file or directory; " + missing);
  EXPECT_EQ(error_text(ErrorKind::io, [&] { read_file(dir.path()); }),
            "open: Is a directory; " + dir.path());
  error_text(ErrorKind::io, [&] { MappedFile{missing}; });
}

TEST(File, ReadsRangesFromManyThreads) {
  const TempDir dir;
  std::string content(100000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7);
  const File file(dir.write("f", content));
  EXPECT_EQ(file.size(), content.size());
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t offset = t; offset + 100 <= content.size(); offset += 997) {
        std::string part(100, '\0');
        file.read_at(offset, std::as_writable_bytes(std::span(part)));
        ASSERT_EQ(part, content.substr(offset, 100));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(File, ARangeBeyondTheEndIsAnErrorWithOffsetExpectedAndFound) {
  const TempDir dir;
  const std::string path = dir.write("f", "0123456789");
  const File file(path);
  std::byte into[4];
  EXPECT_EQ(error_text(ErrorKind::io, [&] { file.read_at(8, into); }),
            "read: file ends early; " + path + " at byte 8: expected 4 bytes, found 2");
}

TEST(File, MapsContentAlsoOfEmptyFiles) {
  const TempDir dir;
  MappedFile file(dir.write("f", kNul));
  EXPECT_EQ(as_text(file.bytes()), kNul);
  MappedFile moved = std::move(file);
  EXPECT_EQ(as_text(moved.bytes()), kNul);
  EXPECT_TRUE(MappedFile(dir.write("empty", "")).bytes().empty());
}

}  // namespace
}  // namespace thalweg
