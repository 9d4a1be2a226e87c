#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/file.h>
#include <thalweg/base/philox.h>
#include <thalweg/base/writer.h>
#include <thalweg/data/cbf.h>
#include <thalweg/data/ctf.h>
#include <thalweg/data/format.h>
#include <thalweg/data/minibatch_source.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/corpus_totals.h"
#include "data/formats/make.h"
#include "data/formats/mutate.h"

namespace thalweg::data {
namespace {

template <typename... Numbers>
void put(MemoryWriter& out, Numbers... numbers) {
  (out.write_le(numbers), ...);
}

// As facts have the format: two streams, D dense of two f64 and S sparse of five f32; one chunk of
// a sequence with one sample and one with two, in which S has one.
std::string small_file() {
  MemoryWriter out;
  put(out, uint64_t{0x636e746b5f62696e}, uint32_t{1});
  put(out, uint32_t{1}, uint32_t{2});              // lengths
  put(out, uint32_t{1}, 1.5, -2.0);                // D, first sequence
  put(out, uint32_t{2}, 3.0, 4.0, 5.0, 6.0);       // D, second
  put(out, uint32_t{1}, 2, 0.5f, 0.25f, 4, 0, 2);  // S, first
  put(out, uint32_t{1}, 0, 0);                     // S, second: nothing stored
  const auto header = out.offset();
  put(out, uint64_t{0x636e746b5f62696e}, uint32_t{1}, uint32_t{2});
  put(out, uint8_t{0}, uint32_t{1}, 'D', uint8_t{1}, uint32_t{2});
  put(out, uint8_t{1}, uint32_t{1}, 'S', uint8_t{0}, uint32_t{5});
  put(out, uint64_t{12}, uint32_t{2}, uint32_t{3});
  put(out, header);
  return std::string(as_text(out.bytes()));
}

class Cbf : public testing::Test {
 protected:
  CBFDeserializer open(const std::string& content, const std::vector<CbfStream>& streams = {}) {
    dir_.write("f.cbf", content);
    return CBFDeserializer(dir_ / "f.cbf", streams);
  }
  std::string error_of(const std::string& content) {
    return error_text(ErrorKind::io, [&] { totals_of(open(content)); });
  }
  TempDir dir_;
};

TEST_F(Cbf, ReadsDenseAndSparseStreams) {
  const CBFDeserializer corpus = open(small_file());
  ASSERT_EQ(corpus.chunks(), 1);
  EXPECT_EQ(corpus.chunk(0).sequences, 2);
  EXPECT_EQ(corpus.streams()[0].dtype, DType::f64);
  EXPECT_EQ(corpus.streams()[1].name, "S");
  EXPECT_TRUE(corpus.streams()[1].sparse);
  const auto chunk = corpus.load(0);
  EXPECT_EQ(chunk->length(1), 2);
  EXPECT_LE(chunk->bytes(), corpus.chunk(0).bytes);
  const StreamValues d = chunk->read(1, 0, {});
  EXPECT_EQ(d.samples, 2);
  EXPECT_EQ(static_cast<const double*>(d.values)[3], 6);
  const StreamValues s = chunk->read(0, 1, {});
  EXPECT_EQ(s.samples, 1);
  EXPECT_EQ(s.row_starts[1] - s.row_starts[0], 2);
  EXPECT_EQ(s.columns[s.row_starts[0]], 4);
  EXPECT_EQ(static_cast<const float*>(s.values)[1], 0.25f);
  const StreamValues none = chunk->read(1, 1, {});
  EXPECT_EQ(none.row_starts[0], none.row_starts[1]);
  EXPECT_THAT(chunk->where(1), testing::EndsWith("f.cbf, sequence 1"));
}

TEST_F(Cbf, ReadsSomeStreamsUnderOtherNames) {
  const CBFDeserializer corpus = open(small_file(), {{"labels", "S"}});
  EXPECT_EQ(corpus.streams().size(), 1u);
  EXPECT_EQ(totals_of(corpus).streams.at("labels").values, 2);
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { open(small_file(), {{"T"}}); }),
              testing::HasSubstr("no stream 'T'"));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           open(small_file(), {{"a", "S"}, {"b", "S"}});
                         }),
              testing::HasSubstr("asked for twice"));
  std::string twice = small_file();
  twice[twice.find("S\0\5", 0, 3)] = 'D';
  EXPECT_THAT(error_of(twice), testing::HasSubstr("two streams have the name 'D'"));
}

TEST_F(Cbf, EveryCutFileIsAnError) {
  const std::string content = small_file();
  for (size_t size = 0; size < content.size(); ++size)
    EXPECT_NE(error_text(ErrorKind::io,
                         [&] {
                           const std::string cut = content.substr(0, size);
                           totals_of(*make_cbf(open_source(as_bytes(cut), "f"), {}));
                         }),
              "")
        << size;
  EXPECT_NE(error_of(content + "x"), "");
}

TEST_F(Cbf, ErrorsNameTheByte) {
  std::string content = small_file();
  content[8] = 2;
  EXPECT_THAT(error_of(content), testing::HasSubstr("version 2"));
  content = small_file();
  content[12] = 3;  // the first length
  EXPECT_THAT(error_of(content),
              testing::AllOf(testing::HasSubstr("5 samples"), testing::HasSubstr("header says 3")));
  content = small_file();
  const size_t column = 12 + 8 + 20 + 36 + 16;
  content[column] = 5;
  EXPECT_THAT(error_of(content), testing::HasSubstr("a column is 5; expected one below 5"));
  content[column] = 4;
  content[column + 7] = '\x80';
  EXPECT_THAT(error_of(content), testing::HasSubstr("a column is -2147483648"));
}

TEST_F(Cbf, SurvivesMutatedFiles) {
  const auto read = [](const std::string& bytes) {
    totals_of(*make_cbf(open_source(as_bytes(bytes), "f"), {}));
  };
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("cbf"), 5000, 1, read), 2500);
}

// CNTK's binary files and the text files they were made from.
TEST_F(Cbf, CntksFilesEqualTheirTexts) {
  const char* folder = std::getenv("THALWEG_CONFORMANCE_DATA");
  const std::string cntk = std::string(folder == nullptr ? "" : folder) + "/cntk/";
  try {
    read_file(cntk + "cbf/10x10_dense.bin");
  } catch (const Error&) {
    GTEST_SKIP() << "no files of CNTK in THALWEG_CONFORMANCE_DATA";
  }
  struct Twin {
    const char* name;
    std::vector<CtfStream> streams;
  };
  const DType f64 = DType::f64;
  const std::vector<Twin> twins = {
      {"10x10_dense", {{.name = "F0", .dim = 5}}},
      {"10x10_sparse", {{.name = "F0", .dim = 100, .sparse = true, .dtype = f64}}},
      {"50x20_jagged_sequences_dense", {{.name = "F0", .dim = 3, .dtype = f64}}},
      {"Simple_dense", {{.name = "F", .dim = 2}, {.name = "L", .dim = 2}}},
  };
  for (const Twin& twin : twins) {
    const CBFDeserializer binary(cntk + "cbf/" + twin.name + ".bin");
    const CTFDeserializer text(cntk + "ctf/" + twin.name + ".txt", twin.streams);
    ASSERT_EQ(binary.chunks(), 1);
    const int64_t sequences = binary.chunk(0).sequences;
    ASSERT_EQ(text.chunk(0).sequences, sequences) << twin.name;
    const auto a = binary.load(0);
    const auto b = text.load(0);
    for (int64_t s = 0; s < sequences; ++s) {
      ASSERT_EQ(a->length(s), b->length(s));
      for (size_t i = 0; i < twin.streams.size(); ++i) {
        // CNTK's names in the binary file may be others; order is the same.
        const StreamValues x = a->read(s, i, {});
        const StreamValues y = b->read(s, i, {});
        ASSERT_EQ(x.samples, y.samples) << twin.name;
        const bool sparse = twin.streams[i].sparse;
        const int64_t x0 = sparse ? x.row_starts[0] : 0;
        const int64_t y0 = sparse ? y.row_starts[0] : 0;
        const int64_t n = sparse ? x.row_starts[x.samples] - x0 : x.samples * twin.streams[i].dim;
        for (int64_t v = 0; v < n; ++v) {
          if (twin.streams[i].dtype == f64) {
            ASSERT_DOUBLE_EQ(static_cast<const double*>(x.values)[x0 + v],
                             static_cast<const double*>(y.values)[y0 + v]);
          } else {
            ASSERT_FLOAT_EQ(static_cast<const float*>(x.values)[x0 + v],
                            static_cast<const float*>(y.values)[y0 + v]);
          }
          if (sparse) {
            ASSERT_EQ(x.columns[x0 + v], y.columns[y0 + v]);
          }
        }
      }
    }
  }
}

// CNTK writes all of a file as one chunk.
TEST(CbfLimit, SaysHowMuchAChunkNeedsThatIsTooLarge) {
  const TempDir dir;
  WriteOptions options;
  options.streams = {{"x", DType::f32, {1 << 20}, false, {}}};
  const auto writer = find_format("a.cbf").create(dir / "a.cbf", options);
  const std::vector<float> values(1 << 20, 0.5f);
  writer->write(uint64_t{0},
                std::vector<StreamValues>{{1, values.data(), nullptr, nullptr, {}, {}}});
  writer->commit();
  MinibatchSource source({CBFDeserializer(dir / "a.cbf")}, {.memory_limit = 1_MiB});
  EXPECT_THAT(
      error_text(ErrorKind::invalid, [&] { source.next_minibatch(1); }),
      testing::AllOf(testing::HasSubstr("memory_limit is too small; chunk 0 of "),
                     testing::HasSubstr("a.cbf takes"), testing::HasSubstr("give at least")));
  MinibatchSource enough({CBFDeserializer(dir / "a.cbf")}, {.memory_limit = 32_MiB});
  EXPECT_EQ(enough.next_minibatch(1)["x"].shape(), (Shape{1, 1 << 20}));
}

}  // namespace
}  // namespace thalweg::data
