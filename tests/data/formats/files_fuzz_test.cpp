// Damaged files of parsers that need a file on disk, and writers with what they write read back.
// THALWEG_FUZZ_ROUNDS asks for more rounds than the suite has time for.

#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

#include <thalweg/base/checksum.h>
#include <thalweg/base/file.h>
#include <thalweg/base/writer.h>
#include <thalweg/data/ctf.h>
#include <thalweg/data/image_files.h>

#include "base/temp_dir.h"
#include "data/formats/base64.h"
#include "data/formats/mutate.h"
#include "data/formats/row_spool.h"
#include "data/formats/zip.h"
#include "data/image/pictures.h"

namespace thalweg::data {
namespace {

const std::vector<CtfStream> kStreams = {{.name = "F", .dim = 2},
                                         {.name = "L", .dim = 10, .sparse = true}};

// The sum of all values: each must be there to be read.
double sum_of(const Deserializer& corpus, int64_t chunk, const Deserializer::Wanted& wanted) {
  double sum = 0;
  const auto loaded = corpus.load(chunk, wanted);
  for (int64_t s = 0; s < corpus.chunk(chunk).sequences; ++s) {
    if (!wanted.empty() && !wanted[static_cast<size_t>(s)]) continue;
    const StreamValues dense = loaded->read(s, 0, {});
    const auto* values = static_cast<const float*>(dense.values);
    sum = std::accumulate(values, values + 2 * dense.samples, sum);
    const StreamValues sparse = loaded->read(s, 1, {});
    const auto* stored = static_cast<const float*>(sparse.values);
    for (int64_t v = sparse.row_starts[0]; v < sparse.row_starts[sparse.samples]; ++v)
      sum += stored[v] + sparse.columns[v];
  }
  return sum;
}

double sum_of(const Deserializer& corpus) {
  double sum = 0;
  for (int64_t c = 0; c < corpus.chunks(); ++c) sum += sum_of(corpus, c, {});
  return sum;
}

// Each sequence by itself gives what all of them give together.
TEST(FilesFuzz, CtfSequencesOneByOneAreThoseOfTheWholeFile) {
  const TempDir dir;
  const std::string text =
      "0 |F 1 2.5 |L 0:1 3:2\n0\t|F 4\t5|L 1:1\n1 |F 7 8e-1 |L 2:1 |# note\n\n7 |F 0 0 |L 9:1\n";
  const auto read = [&](const std::string& bytes) {
    const std::string path = dir.write("f.ctf", bytes);
    const CTFDeserializer corpus(path, kStreams, {.single_sequences = true});
    double apart = 0;
    for (int64_t c = 0; c < corpus.chunks(); ++c) {
      const auto n = static_cast<size_t>(corpus.chunk(c).sequences);
      for (size_t s = 0; s < n; ++s) {
        Deserializer::Wanted wanted(n);
        wanted[s] = true;
        apart += sum_of(corpus, c, wanted);
      }
    }
    const double whole = sum_of(CTFDeserializer(path, kStreams));
    ASSERT_NEAR(apart, whole, 1e-5 * std::abs(whole)) << bytes;
  };
  EXPECT_GT(count_rejected_mutations({text}, 500, 21, read), 125);
}

// Damage that the checksum does not tell, and CNTK's index, which has none.
TEST(FilesFuzz, DamagedIndexesOfCtfAreNotReadBeyond) {
  const TempDir dir;
  std::string rows;
  for (int i = 0; i < 6; ++i) rows += std::to_string(i) + " |F 1 2 |L 3:1\n";
  const std::string path = dir.write("f.ctf", rows);
  const CtfOptions options{.index = IndexFile::always};
  sum_of(CTFDeserializer(path, kStreams, options));
  std::string index;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    if (entry.path().extension() == ".index") index = entry.path();
  std::string body = read_file(index);
  body.resize(body.size() - 4);
  const auto read = [&](std::string bytes) {
    const uint32_t checksum = crc32c(as_bytes(bytes));
    bytes.append(reinterpret_cast<const char*>(&checksum), 4);
    write_file(index, bytes);
    sum_of(CTFDeserializer(path, kStreams, options));
  };
  count_rejected_mutations({body}, 150, 22, read);

  std::string cntk(32 * 7, '\0');
  const auto put = [&](size_t at, uint64_t number) { std::memcpy(&cntk[at], &number, 8); };
  put(0, 0x636e746b5f696478);
  put(8, 1);
  put(16, 6);
  put(24, 32);
  for (size_t i = 0; i < 6; ++i) {
    put(32 * i + 32, i);
    put(32 * i + 40, 1);
    put(32 * i + 48, i * rows.size() / 6);
    put(32 * i + 56, rows.size() / 6);
  }
  const auto read_cntk = [&](const std::string& bytes) {
    write_file(path + "._.0.0.0.v1.cache", bytes);
    sum_of(CTFDeserializer(path, kStreams, {.compat = true, .index = IndexFile::never}));
  };
  count_rejected_mutations({cntk}, 150, 24, read_cntk);
}

TEST(FilesFuzz, DamagedImageMapsAreErrorsOrPictures) {
  const TempDir dir;
  dir.write("a.png", *decode_base64(kPngRgb));
  const auto read = [&](const std::string& bytes) {
    const ImageDeserializer data(dir.write("map.txt", bytes));
    for (int64_t c = 0; c < data.chunks(); ++c) {
      const auto chunk = data.load(c);
      for (int64_t s = 0; s < data.chunk(c).sequences; ++s)
        for (size_t stream = 0; stream < 2; ++stream) chunk->read(s, stream, {});
    }
  };
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("image_map"), 2000, 25, read), 600);
}

std::string random_text(Philox& random, uint32_t most) {
  std::string text(random.bounded(most), '\0');
  for (char& c : text) c = static_cast<char>(random.bounded(256));
  return text;
}

TEST(FilesFuzz, ZipsOfAnyContentAreReadBack) {
  Philox random(27);
  for (int64_t round = fuzz_rounds(200); round > 0; --round) {
    std::vector<std::pair<std::string, std::string>> entries;
    MemoryWriter file;
    ZipWriter writer(file);
    for (uint32_t n = random.bounded(5); n > 0; --n) {
      entries.emplace_back(std::to_string(n) + random_text(random, 30), random_text(random, 300));
      writer.write(entries.back().first, as_bytes(entries.back().second));
    }
    writer.finish();
    const ZipArchive zip(open_source(file.bytes(), "f.zip"));
    ASSERT_EQ(zip.entries().size(), entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      ASSERT_EQ(zip.entries()[i].name, entries[i].first);
      ASSERT_EQ(zip.read(i), entries[i].second);
    }
  }
}

TEST(FilesFuzz, SpooledRowsComeBackInPieces) {
  const TempDir dir;
  Philox random(28);
  for (int64_t round = fuzz_rounds(200) / 10; round > 0; --round) {
    RowSpool spool(dir / "f.npy");
    std::string written, found;
    for (uint32_t n = random.bounded(6); n > 0; --n) {
      written += std::string(random.bounded(2) * (600u << 10), 's') + random_text(random, 500);
      spool.write(as_bytes(written).subspan(spool.offset()));
    }
    for (int pass = 0; pass < 2; ++pass) {
      found.clear();
      spool.read_back([&](std::span<std::byte> piece) { found += as_text(piece); });
      ASSERT_EQ(found, written);
    }
  }
}

}  // namespace
}  // namespace thalweg::data
