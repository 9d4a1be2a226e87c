#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/text.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "base/utf8.h"
#include "data/formats/make.h"
#include "data/formats/mutate.h"
#include "data/formats/read_all.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> read(const std::string& text, TextOptions options = {}) {
  return read_stream(*make_text(open_source(as_bytes(text), "f"), options), 0);
}

std::string error_of(const std::string& text, TextOptions options = {}) {
  return error_text(ErrorKind::io, [&] { read(text, options); });
}

TEST(Text, GivesTheBytesOfLines) {
  EXPECT_THAT(read("ab\n\nc\r\nd"), ElementsAre("97 | 98", "99", "100"));
  EXPECT_THAT(read("\xef\xbb\xbf"
                   "a\n"),
              ElementsAre("97"));
  EXPECT_EQ(error_of(""), "text: the file is empty; f");
  EXPECT_EQ(error_of("\n\n"), "text: the file has no samples; f");
  EXPECT_THAT(error_of(std::string("\xff\xfe"
                                   "a\0",
                                   4)),
              HasSubstr("UTF-16"));
}

// huggingface/tokenizers #192.
TEST(Text, RejectsReplacesOrKeepsBytesThatAreNotUtf8) {
  const std::string text = from_hex("6162ff630ac3a90ac3");
  EXPECT_EQ(error_of(text),
            "text: not UTF-8; f:1, byte 2: found 0xFF; replace or keep such bytes, or convert the "
            "file");
  EXPECT_THAT(read(text, {.bad_utf8 = BadUtf8::keep}),
              ElementsAre("97 | 98 | 255 | 99", "195 | 169", "195"));
  EXPECT_THAT(read(text, {.bad_utf8 = BadUtf8::replace}),
              ElementsAre("97 | 98 | 239 | 191 | 189 | 99", "195 | 169", "239 | 191 | 189"));
  EXPECT_THAT(read(text, {.tokens = TextTokens::characters, .bad_utf8 = BadUtf8::replace}),
              ElementsAre("97 | 98 | 65533 | 99", "233", "65533"));
  EXPECT_THAT(read(text, {.max_errors = 2}), ElementsAre("dropped", "195 | 169", "dropped"));
}

TEST(Text, JoinsACharacterThatAPieceOfTheFileCuts) {
  const std::string text = std::string((1 << 20) - 1, 'a') + from_hex("c3a9");
  const auto data = make_text(open_source(as_bytes(text), "f"), {.tokens = TextTokens::characters});
  const auto chunk = data->load(0);
  EXPECT_EQ(chunk->length(0), 1 << 20);
  const StreamValues values = chunk->read(0, 0, {});
  EXPECT_EQ(static_cast<const int32_t*>(values.values)[(1 << 20) - 1], 0xE9);
}

// The Unicode standard, table 3-8, and the borders of the forms.
TEST(Text, KnowsUtf8) {
  const auto points = [](const std::string& hex) {
    std::vector<int32_t> found;
    const std::string text = from_hex(hex);
    for (std::string_view rest = text; !rest.empty();) {
      const CodePoint point = next_code_point(rest);
      found.push_back(point.is_valid ? point.value : -1);
      rest.remove_prefix(point.bytes);
    }
    return found;
  };
  EXPECT_THAT(points("7f c280 dfbf e0a080 ed9fbf ee8080 efbfbf f0908080 f48fbfbf"),
              ElementsAre(0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF));
  EXPECT_THAT(points("c080"), ElementsAre(-1, -1));
  EXPECT_THAT(points("e08080"), ElementsAre(-1, -1, -1));
  EXPECT_THAT(points("eda080"), ElementsAre(-1, -1, -1));
  EXPECT_THAT(points("f4908080"), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(points("61 f18080 e180 c2 62 80 63 80bf 64"),
              ElementsAre(0x61, -1, -1, -1, 0x62, -1, 0x63, -1, -1, 0x64));
}

TEST(Text, NumbersWordsByAVocabulary) {
  const TextOptions options{.tokens = TextTokens::words, .vocabulary = {"<unk>", "the", "cat"}};
  EXPECT_THAT(read(" the\tcat \nthe", options), ElementsAre("1 | 2", "1"));
  EXPECT_EQ(error_of("the dog\n", options),
            "text: a word is not in the vocabulary; f:1:5: found 'dog'; name a word for others");
  TextOptions lenient = options;
  lenient.unknown = "<unk>";
  EXPECT_THAT(read("the dog\n", lenient), ElementsAre("1 | 0"));
  lenient.unknown = "<none>";
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { read("x", lenient); }),
              HasSubstr("lacks the word for others, '<none>'"));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           read("x", {.tokens = TextTokens::words, .vocabulary = {"a", "a"}});
                         }),
              HasSubstr("has 'a' twice"));
  const TempDir dir;
  EXPECT_THAT(read_vocabulary(dir.write("v", "a\nb c\r\n")), ElementsAre("a", "b c"));
}

TEST(Text, CutsBlocksOfBytes) {
  const TextOptions options{.unit = TextUnit::blocks, .block_bytes = 4};
  EXPECT_THAT(read("ab\nc\xff", options), ElementsAre("97 | 98 | 10 | 99", "255"));
  EXPECT_THAT(read("a\r\n\n", options), ElementsAre("97 | 13 | 10 | 10"));
}

TEST(Text, GivesTheSameLinesWhateverTheChunks) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::string(static_cast<size_t>(i % 40), 'x') + "\n";
  const auto expected = read(text);
  for (size_t limit : {1, 500, 5000}) {
    const auto data = make_text(open_source(as_bytes(text), "f"), {});
    data->limit_chunks(limit);
    EXPECT_EQ(read_stream(*data, 0), expected);
    EXPECT_GT(data->chunks(), 1);
  }
}

TEST(Text, TellsTheLengthOfLinesThatAreNotWanted) {
  const std::string text = "abc\nde\nf\n";
  const auto data = make_text(open_source(as_bytes(text), "f"), {});
  const auto chunk = data->load(0, {false, true, false});
  EXPECT_EQ(chunk->length(0), 3);
  EXPECT_EQ(chunk->length(2), 1);
  EXPECT_EQ(chunk->where(1), "f:2");
}

TEST(Text, SurvivesMutatedFiles) {
  for (TextTokens tokens : {TextTokens::bytes, TextTokens::characters}) {
    const auto run = [&](const std::string& bytes) { read(bytes, {.tokens = tokens}); };
    EXPECT_GT(count_rejected_mutations(fuzz_corpus("text"), 5000, 15, run), 1000);
  }
}

}  // namespace
}  // namespace thalweg::data
