#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/data/drawn_text.h>

#include "base/expect_error.h"

namespace thalweg::data {
namespace {

std::vector<std::string> sentences(const std::string& text) {
  std::vector<std::string> result;
  std::string sentence;
  for (const char c : text) {
    if (sentence.empty() && (c == ' ' || c == '\n')) continue;
    sentence += c;
    if (c != '.' && c != '?') continue;
    result.push_back(sentence);
    sentence.clear();
  }
  EXPECT_EQ(sentence, "");
  return result;
}

std::vector<std::string> words(const std::string& sentence) {
  std::istringstream in(sentence.substr(0, sentence.size() - 1));
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

TEST(DrawnText, HasRightSumsAndTrueAnswers) {
  const std::vector<std::string> numbers{"no",      "one",     "two",       "three",    "four",
                                         "five",    "six",     "seven",     "eight",    "nine",
                                         "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                         "fifteen", "sixteen", "seventeen", "eighteen"};
  std::map<std::string, size_t> value;
  for (size_t i = 0; i < numbers.size(); ++i) value[numbers[i]] = i;
  const std::vector<std::string> all = sentences(drawn_text({.bytes = 50'000}));
  int sums = 0, answers = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::string> w = words(all[i]);
    if (w.size() == 5 && w[3] == "make") {
      EXPECT_EQ(value.at(w[0]) + value.at(w[2]), value.at(w[4])) << all[i];
      ++sums;
    }
    if (w[0] == "where") {
      const std::string place = all[i - 1].substr(("the " + w[3] + " is ").size());
      EXPECT_EQ(all[i + 1], "it is " + place);
      ++answers;
    }
  }
  EXPECT_GT(sums, 200);
  EXPECT_GT(answers, 200);
}

TEST(DrawnText, DependsOnTheSeedAndTheSplitAndNotOnTheLength) {
  const std::string text = drawn_text({.bytes = 3000, .seed = 5});
  EXPECT_GE(text.size(), 3000u);
  EXPECT_LT(text.size(), 3200u);
  EXPECT_EQ(drawn_text({.bytes = 500, .seed = 5}),
            text.substr(0, drawn_text({.bytes = 500, .seed = 5}).size()));
  EXPECT_NE(drawn_text({.bytes = 3000, .seed = 6}), text);
  EXPECT_NE(drawn_text({.split = Split::test, .bytes = 3000, .seed = 5}), text);
}

TEST(TextWindows, GiveBytesAndTheByteAfterEach) {
  const Dataset set = text_windows("letters", "abcde\xFFgh", 3);
  ASSERT_EQ(set.size(), 2);
  const Batch batch = set.gather({1, 0});
  EXPECT_EQ(batch.data.to_vector<int64_t>(), (std::vector<int64_t>{'d', 'e', 255, 'a', 'b', 'c'}));
  EXPECT_EQ(batch.label.to_vector<int64_t>(), (std::vector<int64_t>{'e', 255, 'g', 'b', 'c', 'd'}));
}

TEST(TextWindows, OfATooShortTextAreAnError) {
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { text_windows("short.txt", "abc", 3); }),
            "text_windows: short.txt has 3 bytes; a window of 3 and the byte after it need 4");
}

}  // namespace
}  // namespace thalweg::data
