// Windows of a text, for language models.

#include <thalweg/base/file.h>

#include "base/fail.h"
#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

struct Text : DataSetPart {
  std::string train;
  std::string test;
  int64_t length = 64;
  int64_t train_bytes = 1'000'000;
  int64_t test_bytes = 100'000;

  Fields fields() override {
    return {{"train", &train, "the text file to train on; empty: sentences that are drawn"},
            {"test", &test, "likewise to test on; empty: the last tenth of the other"},
            {"length", &length, "bytes of a sample; each is to give the byte after it", 1},
            {"train_bytes", &train_bytes, "of drawn sentences", 2},
            {"test_bytes", &test_bytes, "of drawn sentences", 2}};
  }
  Splits load(uint64_t seed) const override {
    if (train.empty()) return drawn(seed);
    const std::string text = read_file(train);
    if (!test.empty()) return {windows(train, text), windows(test, read_file(test))};
    const size_t cut = text.size() - text.size() / 10;
    return {windows(train, text.substr(0, cut)), windows(train, text.substr(cut))};
  }

 private:
  Splits drawn(uint64_t seed) const {
    if (!test.empty()) fail_invalid("recipe: data.test is '{}', but data.train is empty", test);
    const auto sentences = [&](data::Split split, int64_t bytes) {
      return windows("drawn text", data::drawn_text({split, bytes, seed}));
    };
    return {sentences(data::Split::train, train_bytes), sentences(data::Split::test, test_bytes)};
  }
  data::Dataset windows(const std::string& name, const std::string& text) const {
    return data::text_windows(name, text, length);
  }
};

}  // namespace

std::unique_ptr<Part> make_text_set() { return make_part<Text>(); }

}  // namespace thalweg::cli
