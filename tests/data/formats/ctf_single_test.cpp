// CTF files of which sequences are read one by one, to shuffle all of them in little memory.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/writer.h>
#include <thalweg/data/ctf.h>
#include <thalweg/data/minibatch_source.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg::data {
namespace {

using testing::HasSubstr;

constexpr int kSequences = 6000;

constexpr int kDim = 16;

// Sequence i has 1 to 3 rows, all of the value i.
std::string rows(bool with_ids) {
  std::string text;
  for (int i = 0; i < kSequences; ++i) {
    for (int k = 0; k <= (with_ids ? i % 3 : 0); ++k) {
      text += (with_ids ? std::to_string(i) + " " : "") + "|x";
      for (int d = 0; d < kDim; ++d) text += " " + std::to_string(i);
      text += "\n";
    }
  }
  return text;
}

class CtfSingle : public testing::Test {
 protected:
  MinibatchSource source(size_t memory, int64_t rank = 0, int64_t ranks = 1) {
    return MinibatchSource({CTFDeserializer(path_, {{.name = "x", .dim = kDim}},
                                            {.index = IndexFile::never, .single_sequences = true})},
                           {.shuffle = Shuffle::corpus,
                            .memory_limit = memory,
                            .seed = 3,
                            .size_unit = SizeUnit::sequences,
                            .rank = rank,
                            .world_size = ranks});
  }
  // The values of the first samples of all sequences, in order.
  static std::vector<int> order(MinibatchSource source) {
    std::vector<int> found;
    while (const Minibatch mb = source.next_minibatch(50)) {
      const float* x = mb["x"].data<float>();
      for (const int64_t length : mb.lengths("x").to_vector<int64_t>()) {
        for (int64_t k = 1; k < length * kDim; ++k) EXPECT_EQ(x[k], x[0]);
        found.push_back(static_cast<int>(x[0]));
        x += length * kDim;
      }
    }
    return found;
  }

  TempDir dir_;
  std::string path_ = dir_ / "f.ctf";
};

TEST_F(CtfSingle, ShufflesAllOfAFileThatDoesNotFitAsOneThatDoes) {
  for (const bool with_ids : {true, false}) {
    dir_.write("f.ctf", rows(with_ids));
    const std::vector<int> whole = order(source(64_MiB)), little = order(source(256_KiB));
    EXPECT_EQ(little, whole);
    std::vector<int> sorted = little;
    std::ranges::sort(sorted);
    for (int i = 0; i < kSequences; ++i) ASSERT_EQ(sorted[static_cast<size_t>(i)], i);
    // Neighbours come from everywhere.
    int64_t far = 0;
    for (size_t i = 1; i < little.size(); ++i) far += std::abs(little[i] - little[i - 1]) > 500;
    EXPECT_GT(far, kSequences * 3 / 4);
  }
}

TEST_F(CtfSingle, SharesTheSameOrderAmongRanks) {
  dir_.write("f.ctf", rows(true));
  const std::vector<int> whole = order(source(256_KiB));
  std::vector<int> shared = order(source(256_KiB, 0, 2));
  const std::vector<int> other = order(source(256_KiB, 1, 2));
  EXPECT_EQ(shared.size(), other.size());
  shared.insert(shared.end(), other.begin(), other.end());
  std::ranges::sort(shared);
  std::vector<int> all = whole;
  std::ranges::sort(all);
  EXPECT_EQ(shared, all);
}

TEST_F(CtfSingle, TellsThePlaceOfABadRecord) {
  std::string text = rows(true);
  const size_t at = text.find("\n4001 |x 4001");
  text.replace(at + 1, 13, "4001 |x 40z1 ");
  dir_.write("f.ctf", text);
  const auto line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at) + 1, '\n');
  EXPECT_THAT(error_text(ErrorKind::io, [&] { order(source(256_KiB)); }),
              HasSubstr("f.ctf:" + std::to_string(line + 1) + ":9: stream 'x'"));
}

TEST_F(CtfSingle, NeedsToBeAskedForAndDataThatAreReadStrictly) {
  dir_.write("f.ctf", rows(true));
  const auto without = [&] {
    order(MinibatchSource({CTFDeserializer(path_, {{.name = "x", .dim = kDim}})},
                          {.shuffle = Shuffle::corpus, .memory_limit = 256_KiB}));
  };
  EXPECT_THAT(error_text(ErrorKind::invalid, without), HasSubstr("cannot be read one by one"));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           CTFDeserializer(path_, {{.name = "x", .dim = kDim}},
                                           {.max_errors = 3, .single_sequences = true});
                         }),
              HasSubstr("single_sequences needs data that are read strictly"));
}

}  // namespace
}  // namespace thalweg::data
