#include "cli/sample_file.h"

#include <gmock/gmock.h>

#include <thalweg/data/idx.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "train/png.h"

namespace thalweg::cli {
namespace {

class SampleFile : public testing::Test {
 protected:
  TempDir folder_;
};

TEST_F(SampleFile, TextIsASampleALine) {
  const Tensor samples = read_samples(folder_.write("a.csv", "1,2.5\n\n-3e-1 4\n"), {2});
  EXPECT_EQ(samples.shape(), (Shape{2, 2}));
  EXPECT_THAT(samples.to_vector<float>(), testing::ElementsAre(1, 2.5f, -0.3f, 4));
}

TEST_F(SampleFile, AFirstLineOfNamesIsNoSample) {
  const Tensor samples = read_samples(folder_.write("a.csv", "width,height\n1,2\n"), {2});
  EXPECT_THAT(samples.to_vector<float>(), testing::ElementsAre(1, 2));
  EXPECT_THAT(error_text(ErrorKind::io,
                         [&] { read_samples(folder_.write("b.csv", "1,height\n1,2\n"), {2}); }),
              testing::EndsWith("b.csv:1: found 'height'"));
}

TEST_F(SampleFile, PixelsOfAnIdxFileAreDividedBy255) {
  const std::string path = folder_ / "a.idx";
  data::write_idx(path, Tensor::of<uint8_t>({0, 51, 255, 102}, {2, 2, 1}));
  const Tensor samples = read_samples(path, {2});
  EXPECT_EQ(samples.shape(), (Shape{2, 2}));
  EXPECT_THAT(samples.to_vector<float>(),
              testing::Pointwise(testing::FloatEq(), {0.f, .2f, 1.f, .4f}));
}

TEST_F(SampleFile, OneSampleNeedsNoAxisOfSamples) {
  const std::string path = folder_ / "a.idx";
  data::write_idx(path, Tensor::of<float>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(read_samples(path, {1, 2, 2}).shape(), (Shape{1, 1, 2, 2}));
}

TEST_F(SampleFile, RejectsWhatIsNoNumberWithFileAndLine) {
  const std::string path = folder_.write("a.csv", "1,2\n1,two\n");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { read_samples(path, {2}); }),
            "predict: not a number; " + path + ":2: found 'two'");
}

TEST_F(SampleFile, RejectsASampleOfAnotherSizeWithFileAndLine) {
  const std::string path = folder_.write("a.csv", "1,2\n1,2,3\n");
  EXPECT_EQ(error_text(ErrorKind::io, [&] { read_samples(path, {2}); }),
            "predict: a sample has another size than the net's; " + path +
                ":2: expected 2 numbers, found 3");
}

TEST_F(SampleFile, RejectsAnIdxFileThatHoldsNoWholeSamples) {
  const std::string path = folder_ / "a.idx";
  data::write_idx(path, Tensor::of<float>({1, 2, 3}));
  EXPECT_EQ(error_text(ErrorKind::io, [&] { read_samples(path, {2}); }),
            "predict: the file does not hold whole samples; " + path +
                ": 3 numbers, a sample has [2] = 2");
}

TEST_F(SampleFile, TextMayBeginWithAByteOrderMark) {
  const Tensor samples = read_samples(folder_.write("a.csv",
                                                    "\xef\xbb\xbf"
                                                    "1,2\r\n"),
                                      {2});
  EXPECT_THAT(samples.to_vector<float>(), testing::ElementsAre(1, 2));
}

TEST_F(SampleFile, APictureIsOneSample) {
  const std::vector<uint8_t> pixels{0, 51, 102, 153, 204, 255};
  const std::string path = folder_.write("a.png", train::encode_png(pixels, 2, 3, 1));
  for (const Shape& sample : {Shape{1, 2, 3}, Shape{2, 3}, Shape{6}}) {
    const Tensor samples = read_samples(path, sample);
    EXPECT_EQ(samples.size(0), 1);
    EXPECT_THAT(samples.to_vector<float>(),
                testing::Pointwise(testing::FloatEq(), {0.f, .2f, .4f, .6f, .8f, 1.f}));
  }
  EXPECT_EQ(read_samples(path, {3, 2, 3}).shape(), (Shape{1, 3, 2, 3}));
  for (const Shape& sample : {Shape{1, 3, 2}, Shape{3}, Shape{12}})
    EXPECT_THROW(read_samples(path, sample), Error) << to_string(sample);
}

}  // namespace
}  // namespace thalweg::cli
