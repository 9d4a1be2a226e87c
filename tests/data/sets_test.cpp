#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/threads.h>
#include <thalweg/data/idx.h>
#include <thalweg/data/sets.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/sample_sets.h"

namespace thalweg::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kFashionFolder = "/usr/share/datasets/fashion-mnist";

/// Sets an environment variable while it lives.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedEnv() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

double sum_of(const Tensor& tensor) {
  const std::vector<float> values = tensor.to_vector<float>();
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Numbers by NumPy from Debian's files.
TEST(FashionMnist, HasTheValuesOfItsFiles) {
  if (!std::filesystem::exists(kFashionFolder)) GTEST_SKIP() << "no dataset-fashion-mnist";
  const Dataset train = fashion_mnist({.folder = kFashionFolder});
  EXPECT_EQ(train.size(), 60000);
  EXPECT_EQ(train.name(), "fashion_mnist (train)");
  const Batch first = train.gather({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(first.data.shape(), Shape({10, 784}));
  EXPECT_EQ(first.data.dtype(), DType::f32);
  EXPECT_THAT(labels_of(first), ElementsAre(9, 0, 0, 3, 0, 2, 7, 2, 5, 5));
  EXPECT_NEAR(sum_of(train[0].data) * 255, 76247, 1e-2);
  EXPECT_EQ(train.class_names()[9], "Ankle boot");
  EXPECT_EQ(train.class_names().size(), 10u);

  const Dataset test =
      fashion_mnist({.split = Split::test, .folder = kFashionFolder, .flat = false});
  EXPECT_EQ(test.size(), 10000);
  EXPECT_EQ(test[0].data.shape(), Shape({1, 28, 28}));
  EXPECT_THAT(labels_of(test.take(10)), ElementsAre(9, 2, 1, 1, 6, 1, 4, 6, 5, 7));
  EXPECT_NEAR(sum_of(test[-1].data) * 255, 24390, 1e-2);
}

std::string tiny_set(const TempDir& dir, std::vector<uint8_t> labels, int64_t images = 2) {
  std::filesystem::create_directories(dir / "mnist");
  write_idx(dir / "mnist/train-images-idx3-ubyte",
            Tensor::full({images, 2, 3}, 51, {.dtype = DType::u8}));
  write_idx(dir / "mnist/train-labels-idx1-ubyte", Tensor::of(labels));
  return dir / "mnist";
}

TEST(Mnist, ReadsTheFolderTheUserNames) {
  const TempDir dir;
  const Dataset set = mnist({.folder = tiny_set(dir, {7, 9})});
  EXPECT_EQ(set.size(), 2);
  EXPECT_THAT(labels_of(set), ElementsAre(7, 9));
  EXPECT_EQ(set[0].data.to_vector<float>(), std::vector<float>(6, 0.2f));
}

TEST(Mnist, IsFoundBelowTheDataFolder) {
  const TempDir dir;
  tiny_set(dir, {7, 9});
  const ScopedEnv data("THALWEG_DATA", dir.path());
  EXPECT_EQ(mnist().size(), 2);
}

TEST(Mnist, SaysWhereItLookedAndHowToGetIt) {
  const ScopedEnv data("THALWEG_DATA", "/nowhere");
  EXPECT_EQ(
      error_text(ErrorKind::unavailable, [] { mnist({.split = Split::test}); }),
      "mnist: the data set is not there; looked for t10k-images-idx3-ubyte[.gz] and "
      "t10k-labels-idx1-ubyte[.gz] in /nowhere, /nowhere/mnist; name the folder of its files");
  EXPECT_THAT(error_text(ErrorKind::unavailable, [] { fashion_mnist({.folder = "/nowhere"}); }),
              HasSubstr("in /nowhere; get it by 'apt-get install dataset-fashion-mnist'"));
}

TEST(Mnist, RejectsFilesThatDoNotFitTogether) {
  const TempDir dir;
  const auto text = [&](std::vector<uint8_t> labels) {
    const std::string folder = tiny_set(dir, std::move(labels));
    return error_text(ErrorKind::io, [&] { mnist({.folder = folder}); });
  };
  EXPECT_THAT(text({1, 2, 3}),
              HasSubstr("holds u8 [3], not one u8 label for each of the 2 images"));
  EXPECT_THAT(text({1, 10}), HasSubstr("label 1 is 10, there are 10 classes"));
}

// The share of samples whose digit is that of the nearest mean picture.
double nearest_mean_accuracy(const Dataset& train, const Dataset& test) {
  std::vector<double> mean(10 * 784);
  std::vector<double> count(10);
  const std::vector<int64_t> labels = labels_of(train);
  for (int64_t i = 0; i < train.size(); ++i) {
    const std::vector<float> pixels = train[i].data.to_vector<float>();
    const auto label = static_cast<size_t>(labels[static_cast<size_t>(i)]);
    ++count[label];
    for (size_t j = 0; j < 784; ++j) mean[label * 784 + j] += pixels[j];
  }
  int64_t right = 0;
  for (int64_t i = 0; i < test.size(); ++i) {
    const Batch sample = test[i];
    const std::vector<float> pixels = sample.data.to_vector<float>();
    std::vector<double> distance(10);
    for (size_t k = 0; k < 10; ++k) {
      for (size_t j = 0; j < 784; ++j) {
        const double d = pixels[j] - mean[k * 784 + j] / count[k];
        distance[k] += d * d;
      }
    }
    right += std::ranges::min_element(distance) - distance.begin() == sample.label.item<int64_t>();
  }
  return static_cast<double>(right) / static_cast<double>(test.size());
}

TEST(DrawnDigits, CanBeToldApartButNotByTheirMeans) {
  const Dataset train = drawn_digits({.samples = 3000});
  const Dataset test = drawn_digits({.split = Split::test, .samples = 1000});
  const double accuracy = nearest_mean_accuracy(train, test);
  EXPECT_GT(accuracy, 0.5);
  EXPECT_LT(accuracy, 0.85);
}

TEST(DrawnDigits, DependOnTheSeedAndTheirNumberOnly) {
  const Dataset few = drawn_digits({.samples = 70, .seed = 5});
  set_num_threads(1);
  const Dataset more = drawn_digits({.samples = 200, .seed = 5});
  set_num_threads(2);
  const std::vector<int64_t> picked = {0, 65, 69};
  EXPECT_EQ(few.gather(picked).data.to_vector<float>(),
            more.gather(picked).data.to_vector<float>());
  EXPECT_EQ(labels_of(few), labels_of(more.take(70)));
  const auto first = [](DrawnDigitsOptions options) {
    options.samples = 1;
    return drawn_digits(options)[0].data.to_vector<float>();
  };
  EXPECT_NE(first({.seed = 5}), first({.seed = 6}));
  EXPECT_NE(first({.seed = 5}), first({.split = Split::test, .seed = 5}));
  EXPECT_EQ(drawn_digits({.samples = 1, .flat = false})[0].data.shape(), Shape({1, 28, 28}));
}

TEST(DrawnTags, FollowTheRuleOfTheLanguage) {
  const int64_t longest = 12;
  const Dataset set = drawn_tags({.samples = 200, .words = 30, .longest = longest, .seed = 4});
  std::set<int64_t> seen;
  for (int64_t i = 0; i < set.size(); ++i) {
    const Batch sentence = set[i];
    std::vector<int64_t> words = sentence.data.to_vector<int64_t>();
    const std::vector<int64_t> tags = sentence.label.to_vector<int64_t>();
    words.push_back(0);
    int64_t opener = 0;
    for (size_t t = 0; t < tags.size(); ++t) {
      const int64_t w = words[t];
      int64_t expected = -1;
      if (w >= 8) expected = words[t + 1] >= 5 && words[t + 1] <= 7 ? 8 : 5 + (w + opener) % 3;
      if (w >= 5 && w <= 7) expected = 4;
      if (w >= 1 && w <= 4) expected = w - 1;
      ASSERT_EQ(tags[t], expected) << "sentence " << i << ", word " << t;
      if (w >= 1 && w <= 4) opener = w;
      EXPECT_TRUE(w != 0 || words[t + 1] == 0);
      seen.insert(expected);
    }
    EXPECT_GE(std::count_if(words.begin(), words.end(), [](int64_t w) { return w != 0; }), 3);
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(DrawnTags, SentencesDependOnSeedAndSplitOnly) {
  const auto words = [](DrawnTagsOptions options) {
    return drawn_tags(options)[1].data.to_vector<int64_t>();
  };
  EXPECT_EQ(words({.samples = 2, .seed = 5}), words({.samples = 9, .seed = 5}));
  EXPECT_NE(words({.samples = 2, .seed = 5}), words({.samples = 2, .seed = 6}));
  EXPECT_NE(words({.samples = 2, .seed = 5}),
            words({.split = Split::test, .samples = 2, .seed = 5}));
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { drawn_tags({.words = 9}); }),
              HasSubstr("at most 20 of 9 words"));
}

void write_cifar_batch(const std::string& path, const std::vector<uint8_t>& labels) {
  std::string bytes;
  for (const uint8_t label : labels) {
    bytes.push_back(static_cast<char>(label));
    for (int plane = 0; plane < 3; ++plane) bytes.append(1024, static_cast<char>(51 * (plane + 1)));
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Cifar10, ReadsTheFiveFilesOfItsBinaryVersion) {
  const TempDir dir;
  std::filesystem::create_directories(dir / "cifar-10-batches-bin");
  for (uint8_t i = 1; i <= 5; ++i) {
    write_cifar_batch(dir / fmt::format("cifar-10-batches-bin/data_batch_{}.bin", i),
                      {i, static_cast<uint8_t>(9 - i)});
  }
  const ScopedEnv data("THALWEG_DATA", dir.path());
  const Dataset set = cifar10({.flat = false});
  EXPECT_THAT(labels_of(set), ElementsAre(1, 8, 2, 7, 3, 6, 4, 5, 5, 4));
  EXPECT_EQ(set[0].data.shape(), Shape({3, 32, 32}));
  const std::vector<float> pixels = set[9].data.to_vector<float>();
  EXPECT_EQ(pixels[0], 0.2f);
  EXPECT_EQ(pixels[1023], 0.2f);
  EXPECT_EQ(pixels[1024], 0.4f);
  EXPECT_EQ(set.class_names()[9], "truck");
  EXPECT_THAT(error_text(ErrorKind::unavailable, [] { cifar10({.split = Split::test}); }),
              HasSubstr("looked for test_batch.bin in " + (dir / "cifar-10-batches-bin")));
}

TEST(Cifar10, RejectsFilesOfAnotherSizeAndLabelsOutOfRange) {
  const TempDir dir;
  const auto text = [&] {
    return error_text(ErrorKind::io,
                      [&] { cifar10({.split = Split::test, .folder = dir.path()}); });
  };
  std::ofstream(dir / "test_batch.bin") << "abc";
  EXPECT_THAT(text(), HasSubstr("test_batch.bin has 3 bytes, not a multiple of 3073"));
  write_cifar_batch(dir / "test_batch.bin", {3, 10});
  EXPECT_THAT(text(), HasSubstr("label 1 is 10, there are 10 classes"));
}

TEST(DrawnShapes, DependOnTheSeedAndTheirNumberOnly) {
  const Dataset few = drawn_shapes({.samples = 70, .seed = 5});
  set_num_threads(1);
  const Dataset more = drawn_shapes({.samples = 200, .seed = 5});
  set_num_threads(2);
  const std::vector<int64_t> picked = {0, 65, 69};
  EXPECT_EQ(few.gather(picked).data.to_vector<float>(),
            more.gather(picked).data.to_vector<float>());
  EXPECT_EQ(labels_of(few), labels_of(more.take(70)));
  EXPECT_NE(few[0].data.to_vector<float>(),
            drawn_shapes({.samples = 1, .seed = 6})[0].data.to_vector<float>());
  EXPECT_EQ(few[0].data.shape(), Shape({3, 32, 32}));
  const std::vector<int64_t> labels = labels_of(more);
  EXPECT_EQ(std::set<int64_t>(labels.begin(), labels.end()).size(), 10u);
}

TEST(Spirals, ArmsAreWhereTheFormulaPutsThem) {
  const Dataset set = spirals({.samples = 300, .classes = 3, .turns = 1.5, .noise = 0});
  for (int64_t i = 0; i < set.size(); ++i) {
    const Batch sample = set[i];
    EXPECT_EQ(sample.label.item<int64_t>(), i % 3);
    const std::vector<float> p = sample.data.to_vector<float>();
    const double radius = std::hypot(p[0], p[1]);
    const double angle = 2 * M_PI * (1.5 * radius + static_cast<double>(i % 3) / 3);
    EXPECT_NEAR(p[0], radius * std::cos(angle), 1e-5);
    EXPECT_NEAR(p[1], radius * std::sin(angle), 1e-5);
  }
  EXPECT_THAT(error_text(ErrorKind::invalid, [] { spirals({.classes = 0}); }),
              HasSubstr("0 classes"));
}

}  // namespace
}  // namespace thalweg::data
