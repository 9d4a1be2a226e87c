#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/text.h>

namespace thalweg {
namespace {

const std::vector<std::string_view> kKeys{"batch_size", "learning_rate", "momentum", "epochs",
                                          "f1"};

TEST(Text, FindsTheNameThatWasMeant) {
  EXPECT_EQ(nearest_name("batchsize", kKeys), "batch_size");
  EXPECT_EQ(nearest_name("learnign_rate", kKeys), "learning_rate");
  EXPECT_EQ(nearest_name("Momentum", kKeys), "momentum");
  EXPECT_EQ(nearest_name("epoch", kKeys), "epochs");
  EXPECT_EQ(nearest_name("f2", kKeys), "f1");
  EXPECT_EQ(nearest_name("weight_decay", kKeys), std::nullopt);
  EXPECT_EQ(nearest_name("", kKeys), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}), std::nullopt);
}

TEST(Text, PrefersTheFewestEditsThenTheFirst) {
  const std::vector<std::string_view> names{"tanh", "than", "Tanh"};
  EXPECT_EQ(nearest_name("tanh", names), "tanh");
  EXPECT_EQ(nearest_name("TANH", names), "Tanh");
  EXPECT_EQ(nearest_name("tamh", names), "tanh");
}

TEST(Text, AsksWhetherTheNearNameWasMeant) {
  EXPECT_EQ(did_you_mean("epoch", kKeys), "; did you mean 'epochs'?");
  EXPECT_EQ(did_you_mean("weight_decay", kKeys), "");
}

TEST(Text, FormatsBytesWithThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(99 * 1024 + 1000), "100 KiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(512u << 20), "512 MiB");
  EXPECT_EQ(format_bytes(uint64_t{3} << 40), "3.00 TiB");
  EXPECT_EQ(format_bytes(~uint64_t{0}), "16777216 TiB");
}

TEST(Text, FormatsCountsWithThreeDigits) {
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(60000), "60.0 k");
  EXPECT_EQ(format_count(55050), "55.0 k");
  EXPECT_EQ(format_count(999999), "1.00 M");
  EXPECT_EQ(format_count(1234567), "1.23 M");
}

TEST(Text, FormatsDurationsInTheUnitThatFits) {
  EXPECT_EQ(format_duration(0), "0.00 ns");
  EXPECT_EQ(format_duration(3.4e-7), "340 ns");
  EXPECT_EQ(format_duration(1.234e-5), "12.3 us");
  EXPECT_EQ(format_duration(0.0075), "7.50 ms");
  EXPECT_EQ(format_duration(0.99999), "1.00 s");
  EXPECT_EQ(format_duration(42), "42.0 s");
  EXPECT_EQ(format_duration(59.96), "1:00 min");
  EXPECT_EQ(format_duration(185), "3:05 min");
  EXPECT_EQ(format_duration(7629), "2:07:09 h");
  EXPECT_EQ(format_duration(360000), "100:00:00 h");
}

TEST(Text, ReadsSizesInBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("512MiB"), uint64_t{512} << 20);
  EXPECT_EQ(parse_bytes("512 mib"), uint64_t{512} << 20);
  EXPECT_EQ(parse_bytes("1.5 GB"), 1500000000u);
  EXPECT_EQ(parse_bytes("64k"), 65536u);
  EXPECT_EQ(parse_bytes("2T"), uint64_t{2} << 40);
  EXPECT_EQ(parse_bytes("100 B"), 100u);
  EXPECT_EQ(parse_bytes(".5K"), 512u);
}

TEST(Text, RefusesWhatIsNoSize) {
  for (const char* bad : {"", "MiB", "-1", "1 2", "1 MiBs", "1 pB", "12 parsecs", "nan", "inf",
                          "1e3", " 1", "1 ", "0x10", "9999999 TiB", "1 KB B"})
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
}

TEST(Text, QuotesWordsOfAShellWhereTheyNeedIt) {
  EXPECT_EQ(shell_word("runs/a-1_b.c"), "runs/a-1_b.c");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word(""), "''");
}

// Markus Kuhn's UTF-8 stress test, sections 2 to 5.
TEST(Text, KnowsUtf8) {
  for (const char* good : {"", "abc", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xff", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xc3", "\xe2\x82", "\xc3(", "\xf8\x88"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

}  // namespace
}  // namespace thalweg
