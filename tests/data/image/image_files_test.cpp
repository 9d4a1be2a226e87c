#include <atomic>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/image_files.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/conformance.h"
#include "data/formats/base64.h"
#include "data/formats/mutate.h"
#include "data/formats/read_all.h"
#include "data/formats/zip.h"
#include "data/image/image_store.h"
#include "data/image/pictures.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

const std::string kImages = "cntk/images/";

// "8x4 0 0 254": width, height and the first pixel of every picture.
std::vector<std::string> pictures_of(const Deserializer& data) {
  std::vector<std::string> all;
  for (int64_t c = 0; data.has_chunk(c); ++c) {
    const auto chunk = data.load(c);
    for (int64_t i = 0; i < data.chunk(c).sequences; ++i) {
      const StreamValues values = chunk->read(i, 0, {i, 0, 0});
      if (values.samples < 0) {
        all.push_back("dropped");
        continue;
      }
      std::string text = fmt::format("{}x{}", values.shape[2], values.shape[1]);
      const auto plane = static_cast<size_t>(values.shape[1] * values.shape[2]);
      for (size_t channel = 0; channel < static_cast<size_t>(values.shape[0]); ++channel)
        text += fmt::format(" {}", static_cast<const uint8_t*>(values.values)[channel * plane]);
      all.push_back(text);
    }
  }
  return all;
}

template <typename Make>
std::string error_of(Make make) {
  return error_text(ErrorKind::io, [&] { pictures_of(make()); });
}

const std::vector<std::string> kFourColours = {"4x8 0 0 0", "4x8 0 0 254", "4x8 0 255 1",
                                               "4x8 254 0 0"};

TEST(CntkImages, ReadsTheSimpleMap) {
  SKIP_WITHOUT(kImages);
  const ImageDeserializer data(conformance_file(kImages + "ImageReaderSimple_map.txt"),
                               {.classes = 4});
  EXPECT_EQ(pictures_of(data), kFourColours);
  EXPECT_THAT(read_stream(data, 1), ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(data.streams()[0].shape, Shape({3, -1, -1}));
  EXPECT_EQ(data.key_kind(), KeyKind::position);
}

TEST(CntkImages, ReadsKeysOfAMapForComposition) {
  SKIP_WITHOUT(kImages);
  const ImageDeserializer data(conformance_file(kImages + "ImageAndTextReaderSimple_map.txt"));
  EXPECT_EQ(data.key_kind(), KeyKind::number);
  EXPECT_EQ(data.key(0, 2), SequenceKey(uint64_t{3}));
  EXPECT_EQ(pictures_of(data), kFourColours);
}

TEST(CntkImages, ReadsPicturesInZipsAndByThreeDots) {
  SKIP_WITHOUT(kImages);
  const ImageDeserializer zip(conformance_file(kImages + "ImageReaderZip_map.txt"));
  EXPECT_EQ(pictures_of(zip), kFourColours);
  const ImageDeserializer twice(conformance_file(kImages + "ImageReaderZipDuplicate_map.txt"));
  EXPECT_EQ(pictures_of(twice).size(), 8u);
  EXPECT_EQ(pictures_of(twice)[2], "4x8 0 0 0");
  const ImageDeserializer dots(conformance_file(kImages + "ImageReader3Dots_map.txt"));
  EXPECT_THAT(pictures_of(dots), ElementsAre("4x8 0 0 0", "4x8 254 0 0"));
  EXPECT_THAT(
      error_of([] {
        return ImageDeserializer(conformance_file(kImages + "ImageReaderZipMissing_map.txt"));
      }),
      testing::AllOf(HasSubstr("ZipMissing_map.txt:4: 'missing.jpg' in "), EndsWith("simple.zip")));
}

TEST(CntkImages, ReadsAZipOfClassFolders) {
  SKIP_WITHOUT(kImages);
  const ImageFolderDeserializer data(conformance_file(kImages + "images/simple.zip"));
  EXPECT_THAT(data.streams()[1].class_names, ElementsAre("chunk0", "chunk1"));
  EXPECT_EQ(pictures_of(data), kFourColours);
  EXPECT_THAT(read_stream(data, 1), ElementsAre("0", "0", "1", "1"));
}

TEST(CntkImages, ReadsGreyPaletteAndAlpha) {
  SKIP_WITHOUT(kImages);
  const ImageDeserializer grey(conformance_file(kImages + "ImageReaderGrayscale_map.txt"),
                               {.decode = {.channels = 1}});
  EXPECT_THAT(read_stream(grey, 0), ElementsAre("0 0 255 255 0 0 255 255 255 255 0 0 255 255 0 0"));
  const ImageDeserializer multi(conformance_file(kImages + "ImageReaderMultiView_map.txt"));
  EXPECT_THAT(pictures_of(multi), ElementsAre("4x4 255 255 255"));
}

TEST(CntkImages, RejectsBrokenMapsWithTheirRow) {
  SKIP_WITHOUT(kImages);
  const auto error = [](const std::string& name, ImageOptions options = {.classes = 4}) {
    return error_of([&] { return ImageDeserializer(conformance_file(kImages + name), options); });
  };
  EXPECT_THAT(error("ImageReaderBadMap_map.txt"),
              HasSubstr("BadMap_map.txt:3: expected 'path TAB label' or 'key TAB path TAB label', "
                        "found 1 fields: 'images/green.jpg'"));
  EXPECT_THAT(error("ImageReaderBadLabel_map.txt"),
              HasSubstr("BadLabel_map.txt:2: expected a class, found 'blah'"));
  EXPECT_THAT(error("ImageReaderLabelOutOfRange_map.txt"),
              HasSubstr("LabelOutOfRange_map.txt:4: expected 0 to 3, found 10"));
  EXPECT_THAT(error("ImageReaderMissingImage_map.txt"),
              testing::AllOf(HasSubstr("MissingImage_map.txt:1: imageDoesNotExists/black.jpg"),
                             HasSubstr("No such file or directory")));
  EXPECT_THAT(error("ImageReaderVaryingShape_map.txt", {.height = 8, .width = 4}),
              HasSubstr("VaryingShape_map.txt:2: images/multi.png: expected 4 x 8 (width x "
                        "height), found 4 x 4"));
}

TEST(CntkImages, ReadsBase64AndCountsWhatIsNone) {
  SKIP_WITHOUT(kImages);
  const Base64ImageDeserializer data(conformance_file(kImages + "Base64ImageReaderSimple_map.txt"));
  EXPECT_EQ(pictures_of(data), kFourColours);
  const Base64ImageDeserializer named(conformance_file(kImages + "Base64WithStringIds_map.txt"));
  EXPECT_EQ(named.key_kind(), KeyKind::text);
  EXPECT_EQ(named.key(0, 0), SequenceKey("image0"));
  EXPECT_EQ(pictures_of(named), kFourColours);
  const std::string invalid = conformance_file(kImages + "InvalidBase64ImageReaderSimple_map.txt");
  EXPECT_THAT(error_of([&] { return Base64ImageDeserializer(invalid); }), HasSubstr("map.txt:1"));
  const Base64ImageDeserializer lenient(invalid, {.max_errors = 100});
  const auto pictures = pictures_of(lenient);
  EXPECT_EQ(lenient.problems().errors, std::ranges::count(pictures, "dropped"));
  EXPECT_GT(lenient.problems().errors, 0);
}

std::string png() { return *decode_base64(kPngRgb); }

// huggingface/datasets #8324.
TEST(ImageMap, OpensNothingOutsideOfItsRoot) {
  const TempDir dir;
  dir.write("secret.png", png());
  dir.write("set/b.png", png());
  dir.write("set/a/c.png", png());
  std::filesystem::create_symlink(dir / "secret.png", dir / "set/link.png");
  const auto read = [&](const std::string& row, bool has_root) {
    const std::string map = dir.write("set/map.txt", row + "\t0\n");
    return pictures_of(ImageDeserializer(map, {.root = has_root ? dir / "set" : ""}));
  };
  for (const std::string name : {"../secret.png", "link.png"}) {
    EXPECT_EQ(read(name, false).size(), 1u);
    EXPECT_THAT(error_text(ErrorKind::io, [&] { read(name, true); }),
                HasSubstr("lies outside of the root"))
        << name;
  }
  EXPECT_EQ(read("a/../b.png", false).size(), 1u);
  EXPECT_EQ(read("b.png", true).size(), 1u);
  EXPECT_EQ(read(dir / "set/b.png", true).size(), 1u);
  EXPECT_THAT(error_text(ErrorKind::io, [&] { read("/etc/passwd", true); }),
              HasSubstr("lies outside of the root"));
  EXPECT_THAT(error_text(ErrorKind::io, [&] { read(std::string("b.png\0.png", 10), false); }),
              HasSubstr("holds a NUL byte"));
}

TEST(ImageMap, ReadsAnEntryOfAZipByItsNameOnly) {
  const TempDir dir;
  MemoryWriter file;
  ZipWriter zip(file);
  zip.write("../up.png", as_bytes(png()));
  zip.finish();
  dir.write("a.zip", std::string(as_text(file.bytes())));
  const ImageDeserializer data(dir.write("map.txt", "a.zip@/../up.png\t0\n"));
  EXPECT_THAT(pictures_of(data), ElementsAre("5x6 0 0 0"));
  EXPECT_FALSE(std::filesystem::exists(dir / "up.png"));
}

TEST(ImageMap, SkipsAByteOrderMarkBlankRowsAndCr) {
  const TempDir dir;
  dir.write("b.png", png());
  const ImageDeserializer data(dir.write("map.txt",
                                         "\xef\xbb\xbf"
                                         "b.png\t3\r\n\r\nb.png\t4"));
  EXPECT_THAT(read_stream(data, 1), ElementsAre("3", "4"));
  EXPECT_EQ(pictures_of(data).size(), 2u);
  EXPECT_THAT(error_of([&] { return ImageDeserializer(dir.write("map.txt", "")); }),
              HasSubstr("image: the file is empty"));
  EXPECT_THAT(error_of([&] { return ImageDeserializer(dir.write("map.txt", "\n\n")); }),
              HasSubstr("lists no picture"));
  EXPECT_THAT(
      error_of([&] { return ImageDeserializer(dir.write("map.txt", "b.png\t0\n1\tb.png\t0\n")); }),
      HasSubstr("map.txt:2"));
}

TEST(ImageMap, TakesKeysForTextsUnlessAllAreNumbers) {
  const TempDir dir;
  const auto keys = [&](const std::string& map) {
    const ImageDeserializer data(dir.write("map.txt", map));
    return std::pair(data.key(0, 0), data.key(0, 1));
  };
  EXPECT_EQ(keys("007\tb\t0\n8\tb\t0\n"),
            std::pair(SequenceKey(uint64_t{7}), SequenceKey(uint64_t{8})));
  EXPECT_EQ(keys("007\tb\t0\nx\tb\t0\n"), std::pair(SequenceKey("007"), SequenceKey("x")));
}

TEST(ImageFolder, NumbersClassesInTheOrderOfTheirNames) {
  const TempDir dir;
  dir.write("dog/2.png", png());
  dir.write("dog/deep/1.PNG", png());
  dir.write("cat/x.jpg", *decode_base64(kRamps));
  dir.write("cat/notes.txt", "no picture");
  const ImageFolderDeserializer data(dir.path());
  EXPECT_THAT(data.streams()[1].class_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(read_stream(data, 1), ElementsAre("0", "1", "1"));
  EXPECT_THAT(pictures_of(data), ElementsAre("56x40 2 0 1", "5x6 0 0 0", "5x6 0 0 0"));
  EXPECT_EQ(data.load(0)->where(1), dir / "dog/2.png");
  EXPECT_THAT(error_of([&] { return ImageFolderDeserializer(dir.path(), {.classes = 3}); }),
              HasSubstr("expected 3, found 2"));
  EXPECT_THAT(error_of([&] { return ImageFolderDeserializer(dir / "dog"); }),
              HasSubstr("lies in no class folder"));
  EXPECT_THAT(error_of([&] { return ImageFolderDeserializer(dir / "none"); }),
              HasSubstr("cannot list the folder: No such file or directory"));
}

// pytorch/pytorch #7238: the sixth file is cut in half, the seventh lacks its end marker.
TEST(ImageFolder, NamesTheBadPictureOrDropsItWhenAllowed) {
  const TempDir dir;
  const std::string whole = *decode_base64(kRamps);
  for (int i = 1; i <= 8; ++i) {
    const size_t size = i == 6 ? 700 : i == 7 ? whole.size() - 2 : whole.size();
    dir.write(fmt::format("c/{}.jpg", i), whole.substr(0, size));
  }
  EXPECT_THAT(error_of([&] { return ImageFolderDeserializer(dir.path()); }),
              HasSubstr("the image ends early; " + dir.path() + "/c/6.jpg"));
  const ImageFolderDeserializer data(dir.path(), {.max_errors = 1});
  for (int pass = 0; pass < 2; ++pass) {
    const auto pictures = pictures_of(data);
    EXPECT_EQ(std::ranges::count(pictures, "dropped"), 1);
    EXPECT_EQ(pictures[5], "dropped");
  }
  EXPECT_EQ(data.problems().errors, 1);
  EXPECT_EQ(data.problems().warnings, 1);
  EXPECT_THAT(data.problems().messages[1], HasSubstr("the end marker is missing"));
}

TEST(ImageFolder, GivesEveryThreadTheSamePictures) {
  const TempDir dir;
  MemoryWriter file;
  ZipWriter zip(file);
  for (int i = 0; i < 16; ++i)
    zip.write(fmt::format("c/{:02}.jpg", i), as_bytes(*decode_base64(kRamps)));
  zip.finish();
  dir.write("a.zip", std::string(as_text(file.bytes())));
  const ImageFolderDeserializer data(dir / "a.zip");
  const auto expected = pictures_of(data);
  std::atomic<int> equal = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { equal += pictures_of(data) == expected; });
  threads.clear();
  EXPECT_EQ(equal, 4);
}

TEST(Base64Images, SaysWhichRowIsMalformed) {
  const TempDir dir;
  const auto error = [&](const std::string& text, ImageOptions options = {}) {
    return error_of([&] { return Base64ImageDeserializer(dir.write("f", text), options); });
  };
  EXPECT_THAT(error("0\t" + std::string(kPngRgb) + "\nnothing\n"),
              HasSubstr("f:2: expected 'label"));
  EXPECT_THAT(error("x\tAAAA\n"), HasSubstr("f:1: expected a class, found 'x'"));
  EXPECT_THAT(error("5\tAAAA\n", {.classes = 5}), HasSubstr("f:1: expected 0 to 4, found 5"));
  EXPECT_THAT(error("0\tAA-A\n"), HasSubstr("not base64; " + dir / "f" + ":1"));
  EXPECT_THAT(error("0\t\n"), HasSubstr("the file is empty; " + dir / "f" + ":1"));
  EXPECT_THAT(error("0\tAAAA\n"), HasSubstr("neither JPEG nor PNG"));
}

TEST(Base64Images, DecodesWhatRfc4648Says) {
  const std::pair<std::string, std::string> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(decode_base64(text), bytes);
    EXPECT_EQ(encode_base64(bytes), text);
  }
  for (const char* bad : {"Zg=", "Z===", "Zg==Zg==", "Zm9 v", "====", "Zm9\xff"})
    EXPECT_FALSE(decode_base64(bad)) << bad;
}

TEST(Base64Images, SurvivesMutatedFiles) {
  const auto read = [](const std::string& bytes) {
    const auto store = open_base64_images(open_source(as_bytes(bytes), "f"), {.classes = 9});
    for (int64_t i = 0; i < store->size(); ++i) store->read(i);
  };
  EXPECT_GT(count_rejected_mutations(fuzz_corpus("base64"), 1000, 11, read), 50);
}

}  // namespace
}  // namespace thalweg::data
