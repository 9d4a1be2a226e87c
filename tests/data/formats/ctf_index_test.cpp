#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/philox.h>
#include <thalweg/base/writer.h>
#include <thalweg/data/ctf.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/corpus_totals.h"

namespace thalweg::data {
namespace {

namespace fs = std::filesystem;

const std::vector<CtfStream> kX = {{.name = "x", .dim = 2}};

class CtfIndexed : public testing::Test {
 protected:
  std::vector<std::string> indexes(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".index") names.push_back(entry.path());
    return names;
  }

  // Sequences of 1 to 3 rows; the sum of all values is that of 1 to n, twice.
  std::string rows(int n) {
    std::string text;
    Philox random(5);
    for (int i = 1, id = 0; i <= n; ++id)
      for (uint32_t k = 1 + random.bounded(3); k > 0 && i <= n; --k, ++i)
        text += std::to_string(id) + " |x " + std::to_string(i) + " " + std::to_string(i) + "\n";
    return text;
  }

  static double sum(const CTFDeserializer& corpus) { return totals_of(corpus).streams.at("x").sum; }
  static double expected_sum(int n) { return double(n) * (n + 1); }

  TempDir dir_;
  std::string path_ = dir_ / "f.ctf";
};

TEST_F(CtfIndexed, CutsAtSequencesWithinTheLimitOfBytes) {
  const int n = 50000;
  dir_.write("f.ctf", rows(n));
  for (const size_t limit : {size_t{20} << 10, size_t{100} << 10, size_t{1} << 20}) {
    CTFDeserializer corpus(path_, kX);
    corpus.limit_chunks(limit);
    EXPECT_EQ(sum(corpus), expected_sum(n));
    EXPECT_GT(corpus.chunks(), static_cast<int64_t>(fs::file_size(path_) / limit));
    for (int64_t i = 0; i < corpus.chunks(); ++i) {
      const ChunkInfo info = corpus.chunk(i);
      EXPECT_LE(info.bytes + info.load_bytes, limit + 4096);
      EXPECT_LE(corpus.load(i)->bytes(), info.bytes + 1024);
    }
  }
}

TEST_F(CtfIndexed, LooksNoFurtherThanAsked) {
  const int n = 400000;  // about 8 MB
  dir_.write("f.ctf", rows(n) + "x\n");
  const CTFDeserializer corpus(path_, kX, {.chunk_bytes = 1 << 16});
  EXPECT_TRUE(corpus.has_chunk(0));
  EXPECT_GT(corpus.load(0)->length(0), 0);
  EXPECT_EQ(corpus.problems().errors, 0);
}

TEST_F(CtfIndexed, KeepsAnIndexAndUsesIt) {
  const int n = 3000;
  dir_.write("f.ctf", rows(n));
  const CtfOptions options{.chunk_bytes = 4096, .index = IndexFile::always};
  EXPECT_EQ(sum(CTFDeserializer(path_, kX, options)), expected_sum(n));
  const auto kept = indexes(dir_.path());
  ASSERT_EQ(kept.size(), 1u);
  const auto time = fs::last_write_time(kept[0]);
  const CTFDeserializer again(path_, kX, options);
  EXPECT_EQ(sum(again), expected_sum(n));
  EXPECT_EQ(std::get<uint64_t>(again.key(0, 1)), 1u);
  EXPECT_THAT(again.load(1)->where(0), testing::HasSubstr("f.ctf:"));
  EXPECT_EQ(fs::last_write_time(kept[0]), time);
  // It is what is read: a file without rows and another with the same stamp cannot be told apart.
  dir_.write("f.ctf", rows(n - 1));
  EXPECT_EQ(sum(CTFDeserializer(path_, kX, options)), expected_sum(n - 1));
  // A damaged one is made anew.
  std::string bytes = dir_.read(fs::path(kept[0]).filename());
  bytes[100] ^= 1;
  dir_.write(fs::path(kept[0]).filename(), bytes);
  EXPECT_EQ(sum(CTFDeserializer(path_, kX, options)), expected_sum(n - 1));
  dir_.write(fs::path(kept[0]).filename(), "");
  EXPECT_EQ(sum(CTFDeserializer(path_, kX, options)), expected_sum(n - 1));
  EXPECT_NE(dir_.read(fs::path(kept[0]).filename()), "");
}

TEST_F(CtfIndexed, KeepsItInAFolderOrNotAtAll) {
  dir_.write("f.ctf", rows(100));
  sum(CTFDeserializer(path_, kX));  // a small file
  sum(CTFDeserializer(path_, kX, {.index = IndexFile::never}));
  EXPECT_TRUE(indexes(dir_.path()).empty());
  const CtfOptions options{.index = IndexFile::always, .index_folder = dir_ / "cache/a"};
  sum(CTFDeserializer(path_, kX, options));
  EXPECT_EQ(indexes(dir_ / "cache/a").size(), 1u);
  EXPECT_EQ(sum(CTFDeserializer(path_, kX, options)), expected_sum(100));
}

// facts: 32 bytes of header, then a record of 32 bytes for each sequence.
void write_cntk_index(const std::string& path,
                      const std::vector<std::array<uint64_t, 4>>& records) {
  AtomicFile file(path);
  for (const uint64_t number :
       {uint64_t{0x636e746b5f696478}, uint64_t{1}, uint64_t{records.size()}, uint64_t{32}})
    file.write_le(number);
  for (const auto& [key, samples, offset, size] : records)
    for (const uint64_t number : {key, samples, offset, size}) file.write_le(number);
  file.commit();
}

TEST_F(CtfIndexed, ReadsTheIndexThatCntkLeft) {
  const std::string text = "4 |x 1 1\n|x 2 2\n9 |x 3 3\n17 |x 4 4\n";
  dir_.write("f.ctf", text);
  const std::string index = path_ + "._.0.0.0.v1.cache";
  // It says that the file ends before the last sequence, by which we see that it is used.
  write_cntk_index(index, {{4, 2, 0, 16}, {9, 1, 16, 9}});
  for (const bool compat : {false, true}) {
    const CTFDeserializer corpus(path_, kX, {.compat = compat});
    EXPECT_EQ(totals_of(corpus).sequences, 2);
    EXPECT_EQ(sum(corpus), 12);
    EXPECT_EQ(std::get<uint64_t>(corpus.key(0, 1)), 9u);
    EXPECT_THAT(corpus.load(0)->where(1), testing::EndsWith("f.ctf:3"));
  }
  // Of another file: not used.
  write_cntk_index(index, {{4, 2, 0, 16}, {9, 1, 16, 90}});
  EXPECT_EQ(totals_of(CTFDeserializer(path_, kX)).sequences, 3);
  // Of other data: sequences are not where it says.
  write_cntk_index(index, {{4, 1, 0, 9}, {5, 1, 9, 7}, {9, 1, 16, 9}});
  EXPECT_THAT(error_text(ErrorKind::io, [&] { sum(CTFDeserializer(path_, kX)); }),
              testing::HasSubstr("index is of other data"));
  // Older than the file: not used.
  fs::last_write_time(path_, fs::last_write_time(index) + std::chrono::seconds(2));
  EXPECT_EQ(totals_of(CTFDeserializer(path_, kX)).sequences, 3);
}

TEST_F(CtfIndexed, AFileThatChangesWhileReadIsAnError) {
  dir_.write("f.ctf", rows(3000));
  const CTFDeserializer corpus(path_, kX, {.chunk_bytes = 4096});
  corpus.load(0);
  dir_.write("f.ctf", rows(2999));
  EXPECT_THAT(error_text(ErrorKind::io, [&] { corpus.load(1); }), testing::HasSubstr("changed"));
}

TEST_F(CtfIndexed, ThreadsMayAskForAnyChunkWhileTheIndexGrows) {
  const int n = 20000;
  for (const char* name : {"a1.ctf", "a2.ctf", "a3.ctf"}) dir_.write(name, rows(n));
  const CTFDeserializer corpus(dir_ / "a*.ctf", kX, {.max_errors = 1, .chunk_bytes = 16 << 10});
  std::atomic<int64_t> next = 0;
  std::atomic<int64_t> rows_read = 0;
  const auto work = [&] {
    for (int64_t i = next++; corpus.has_chunk(i); i = next++) {
      const auto chunk = corpus.load(i);
      for (int64_t s = 0; s < corpus.chunk(i).sequences; ++s) rows_read += chunk->length(s);
      corpus.key(i, 0);
      corpus.problems();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rows_read, 3 * n);
}

TEST_F(CtfIndexed, AnIdThatIsTooLargeNamesTheFile) {
  dir_.write("f.ctf", "18446744073709551616 |x 1 1\n");
  EXPECT_THAT(
      error_text(ErrorKind::io, [&] { CTFDeserializer(path_, kX).chunks(); }),
      testing::AllOf(testing::HasSubstr("18446744073709551616"), testing::HasSubstr("f.ctf")));
}

}  // namespace
}  // namespace thalweg::data
