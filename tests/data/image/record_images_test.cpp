#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/image_files.h>
#include <thalweg/data/recordio.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/base64.h"
#include "data/formats/read_all.h"
#include "data/image/pictures.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Labels = std::vector<std::vector<float>>;

// Pictures with labels, written record after record.
struct File {
  explicit File(const Labels& labels, bool has_index = true) {
    RecordWriter writer(dir / "f.rec", has_index ? dir / "f.idx" : "");
    const std::string picture = *decode_base64(kPngRgb);
    for (size_t i = 0; i < labels.size(); ++i) {
      const std::string record = pack_image_record({labels[i], i, 0, as_bytes(picture)});
      writer.write(as_bytes(record), 10 * i);
    }
    writer.commit();
  }

  std::string error(RecordImageOptions options = {}) const {
    return error_text(ErrorKind::io, [&] {
      const RecordImageDeserializer data(dir / "f.rec", options);
      read_stream(data, 0);
    });
  }

  TempDir dir;
};

TEST(RecordImages, ReadsPicturesAndClasses) {
  const File file(Labels{{2}, {0}, {1}});
  const RecordImageDeserializer data(file.dir / "f.rec", {.image = {.classes = 3}});
  EXPECT_THAT(read_stream(data, 1), ElementsAre("2", "0", "1"));
  EXPECT_EQ(data.key_kind(), KeyKind::number);
  EXPECT_EQ(data.key(0, 2), SequenceKey(uint64_t{20}));
  const auto pictures = read_stream(data, 0);
  ASSERT_EQ(pictures.size(), 3u);
  EXPECT_THAT(pictures[2], testing::StartsWith("0 4 8 12 16 0 4"));
}

TEST(RecordImages, ReadsListsOfLabels) {
  const File file(Labels{{2, 0.5}, {0, -1}});
  EXPECT_THAT(read_stream(RecordImageDeserializer(file.dir / "f.rec", {.labels = 2}), 1),
              ElementsAre("2 0.5", "0 -1"));
  EXPECT_THAT(file.error({.labels = 3}), HasSubstr("expected 3, found 2"));
  EXPECT_THAT(file.error(), HasSubstr("f.rec at byte 0 (record 0): expected 1, found 2"));
}

TEST(RecordImages, FindsRecordsWithoutAnIndexAChunkAtATime) {
  const File file(Labels{{0}, {1}, {2}, {3}, {4}}, false);
  for (size_t limit : {1, 300, 10000}) {
    RecordImageDeserializer data(file.dir / "f.rec");
    data.limit_chunks(limit);
    EXPECT_EQ(data.key_kind(), KeyKind::position);
    EXPECT_THAT(read_stream(data, 1), ElementsAre("0", "1", "2", "3", "4"));
    EXPECT_EQ(data.chunks(), limit == 1 ? 5 : limit == 300 ? 3 : 1);
  }
}

TEST(RecordImages, GivesWholeChunksBeforeAFileThatEndsInARecord) {
  const File file(Labels{{0}, {1}, {2}}, false);
  file.dir.write("f.rec", file.dir.read("f.rec").substr(0, 300));
  RecordImageDeserializer data(file.dir / "f.rec");
  ASSERT_TRUE(data.has_chunk(0));
  EXPECT_EQ(data.chunk(0).sequences, 2);
  EXPECT_EQ(data.load(0)->length(1), 1);
  EXPECT_THAT(error_text(ErrorKind::io, [&] { data.has_chunk(1); }),
              HasSubstr("the file ends inside a record; " + file.dir / "f.rec" + " at byte 232"));
}

TEST(RecordImages, RejectsAnIndexOfAnotherFile) {
  const File file(Labels{{0}, {1}});
  file.dir.write("f.idx", "0\t0\n1\t4000\n");
  EXPECT_THAT(file.error(), HasSubstr("byte 4000 cannot be the start of a record"));
  file.dir.write("f.idx", "0\t0\n1\t12\n");
  EXPECT_THAT(file.error(), HasSubstr("wrong magic number"));
  file.dir.write("f.idx", "0\t0\n1\t0\n");
  EXPECT_THAT(file.error(), HasSubstr("byte 0 comes twice"));
  file.dir.write("f.idx", "");
  EXPECT_THAT(file.error(), HasSubstr("the index is empty"));
}

TEST(RecordImages, RejectsLabelsThatAreNoClass) {
  EXPECT_THAT(File(Labels{{0.5}}).error(), HasSubstr("expected a whole number, found 0.5"));
  EXPECT_THAT(File(Labels{{-1}}).error({.image = {.classes = 3}}),
              HasSubstr("expected 0 to 2, found -1"));
  EXPECT_THAT(File(Labels{{3}}).error({.image = {.classes = 3}}),
              HasSubstr("expected 0 to 2, found 3"));
  EXPECT_THAT(File(Labels{{std::numeric_limits<float>::quiet_NaN()}}).error(),
              HasSubstr("found nan"));
}

// apache/mxnet #18227: 25130987 comes back as 25130988.
TEST(RecordImages, WarnsOfLabelsThatF32CannotHold) {
  const File file(Labels{{25130987.0f}});
  const RecordImageDeserializer data(file.dir / "f.rec");
  EXPECT_THAT(read_stream(data, 1), ElementsAre("25130988"));
  EXPECT_THAT(data.problems().messages, ElementsAre(HasSubstr("may have been rounded")));
}

TEST(RecordImages, DropsRecordsThatAreBad) {
  const File file(Labels{{0}, {0.5}, {2}});
  const RecordImageDeserializer data(file.dir / "f.rec", {.image = {.max_errors = 1}});
  EXPECT_THAT(read_stream(data, 1), ElementsAre("0", "dropped", "2"));
  EXPECT_EQ(read_stream(data, 0)[1], "dropped");
  EXPECT_EQ(data.problems().errors, 1);
}

}  // namespace
}  // namespace thalweg::data
