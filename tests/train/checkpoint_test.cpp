#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thalweg/base/log.h>
#include <thalweg/base/philox.h>
#include <thalweg/model/safetensors.h>
#include <thalweg/train/checkpoint.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg::train {
namespace {

// Collects the log's lines in place of stderr.
class Lines : public LogSink {
 public:
  Lines() : before_(set_log_sink(this)) {}
  ~Lines() override { set_log_sink(before_); }
  void write(LogLevel, std::string_view text) noexcept override { all += std::string(text) + '\n'; }

  std::string all;

 private:
  LogSink* before_;
};

Checkpoint sample(double value = 1.5) {
  Checkpoint checkpoint;
  checkpoint.put("weights/a", Tensor::of({value, 2.0, 3.0}));
  checkpoint.put("weights/b", Tensor::of<int64_t>({7}, {1, 1}));
  checkpoint.put("empty", Tensor::zeros({0, 3}));
  checkpoint.put("step", int64_t{-12});
  checkpoint.put("seed", std::numeric_limits<uint64_t>::max());
  checkpoint.put("best", 0.1);
  checkpoint.put("none", std::numeric_limits<double>::quiet_NaN());
  checkpoint.put("names", "loss\n\"accuracy\"");
  return checkpoint;
}

TEST(Checkpoint, ComesBackAsItWasWritten) {
  const TempDir folder;
  sample().write(folder / "c");
  const Checkpoint back = Checkpoint::read(folder / "c");
  EXPECT_EQ(back.tensor("weights/a").to_vector<double>(), (std::vector{1.5, 2.0, 3.0}));
  EXPECT_EQ(back.tensor("weights/b").shape(), (Shape{1, 1}));
  EXPECT_EQ(back.tensor("empty").shape(), (Shape{0, 3}));
  EXPECT_EQ(back.integer("step"), -12);
  EXPECT_EQ(back.bits("seed"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(back.number("best"), 0.1);
  EXPECT_TRUE(std::isnan(back.number("none")));
  EXPECT_EQ(back.text("names"), "loss\n\"accuracy\"");
  EXPECT_EQ(back.tensors_in("weights/"), (std::vector<std::string>{"weights/a", "weights/b"}));
}

TEST(Checkpoint, MissingPartsAndOtherKindsAreNamed) {
  const TempDir folder;
  const std::string path = folder / "c";
  sample().write(path);
  const Checkpoint back = Checkpoint::read(path);
  const auto text = [](auto&& get) { return error_text(ErrorKind::io, get); };
  EXPECT_EQ(text([&] { back.tensor("weights/c"); }),
            "checkpoint: tensor weights/c is missing in " + path);
  EXPECT_EQ(text([&] { back.number("worst"); }), "checkpoint: worst is missing in " + path);
  EXPECT_EQ(text([&] { back.number("step"); }),
            "checkpoint: step in " + path + " is of another kind, 'i-12'");
}

TEST(Checkpoint, OtherSafetensorsFilesAreNone) {
  const TempDir folder;
  model::save_safetensors(folder / "weights", {{"a", Tensor::of({1.0})}});
  EXPECT_NE(error_text(ErrorKind::io, [&] { Checkpoint::read(folder / "weights"); })
                .find("is no checkpoint"),
            std::string::npos);
}

// Every byte of the file matters: with any bit flipped it is refused, and what is read never
// touches memory that is not its own (this runs under the sanitizers).
TEST(Checkpoint, EveryFlippedBitIsFound) {
  const TempDir folder;
  sample().write(folder / "c");
  const std::string whole = folder.read("c");
  Philox random(1);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1 << random.bounded(8));
    // A blank more or less in the header changes nothing.
    const bool blank = damaged[i] == ' ' || whole[i] == ' ';
    folder.write("d", damaged);
    try {
      const Checkpoint back = Checkpoint::read(folder / "d");
      EXPECT_TRUE(blank) << "byte " << i << " of " << whole.size();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
      EXPECT_NE(std::string(error.what()).find(folder / "d"), std::string::npos) << error.what();
    }
  }
}

TEST(Checkpoint, MutatedFilesAreErrorsOfKindIo) {
  const TempDir folder;
  sample().write(folder / "c");
  const std::string whole = folder.read("c");
  Philox random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string mutated = whole;
    for (uint32_t edits = 1 + random.bounded(4); edits > 0; --edits) {
      const size_t at = random.bounded(static_cast<uint32_t>(mutated.size()));
      const size_t n = random.bounded(16);
      switch (random.bounded(4)) {
        case 0:
          mutated.resize(at);
          break;
        case 1:
          mutated.erase(at, n);
          break;
        case 2:
          mutated.insert(at, whole.substr(at / 2, n));
          break;
        default:
          mutated[at] = static_cast<char>(random.next());
      }
      if (mutated.empty()) mutated = "x";
    }
    folder.write("d", mutated);
    try {
      Checkpoint::read(folder / "d");
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::io) << error.what();
    }
  }
}

// --- folders ---
TEST(CheckpointFolder, KeepsTheLastFewAndWhatIsNotItsOwn) {
  const TempDir folder;
  const CheckpointFolder checkpoints(folder.path(), {.keep_last = 2});
  folder.write("step-5.txt", "");
  for (const int64_t step : {1, 10, 100}) checkpoints.write(step, sample());
  checkpoints.write_best(sample());
  EXPECT_EQ(checkpoints.steps(), (std::vector<int64_t>{10, 100}));
  EXPECT_TRUE(std::filesystem::exists(folder / "step-5.txt"));
  EXPECT_TRUE(std::filesystem::exists(checkpoints.best_path()));
}

TEST(CheckpointFolder, FallsBackToTheNewestThatIsWholeWithAWarning) {
  const TempDir folder;
  const CheckpointFolder checkpoints(folder.path());
  checkpoints.write(1, sample(11));
  checkpoints.write(2, sample(12));
  const std::string last = checkpoints.write(3, sample(13));
  const std::string bytes = folder.read("step-00000003.safetensors");
  folder.write("step-00000003.safetensors", bytes.substr(0, bytes.size() - 1));
  Lines lines;
  EXPECT_EQ(checkpoints.newest().tensor("weights/a").to_vector<double>()[0], 12);
  EXPECT_NE(lines.all.find(last), std::string::npos) << lines.all;
  EXPECT_NE(lines.all.find("going on from " + checkpoints.path_of(2)), std::string::npos);
}

TEST(CheckpointFolder, WithoutAWholeOneSaysWhatIsWrongWithEach) {
  const TempDir folder;
  const CheckpointFolder checkpoints(folder.path());
  EXPECT_EQ(error_text(ErrorKind::io, [&] { checkpoints.newest(); }),
            "checkpoints: none in " + folder.path() + " can be used; there is none");
  folder.write("step-00000003.safetensors", "no");
  Lines lines;
  EXPECT_NE(
      error_text(ErrorKind::io, [&] { checkpoints.newest(); }).find("step-00000003.safetensors"),
      std::string::npos);
}

// The limit on file sizes stands for a full disk: write() fails part-way.
TEST(CheckpointFolder, AFullDiskLeavesThePreviousCheckpoint) {
  const TempDir folder;
  const CheckpointFolder checkpoints(folder.path(), {.keep_last = 1});
  checkpoints.write(1, sample(11));
  Checkpoint large = sample(12);
  large.put("weights/large", Tensor::zeros({100000}));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string text = error_text(ErrorKind::io, [&] { checkpoints.write(2, large); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(text.find("step-00000002.safetensors"), std::string::npos) << text;
  EXPECT_EQ(checkpoints.steps(), (std::vector<int64_t>{1}));
  EXPECT_EQ(checkpoints.newest().tensor("weights/a").to_vector<double>()[0], 11);
}

// A file in the folder's place: root may write into folders that are read-only.
TEST(CheckpointFolder, AFolderThatCannotBeWrittenIsAnError) {
  const TempDir folder;
  folder.write("file", "");
  const CheckpointFolder checkpoints(folder / "file");
  error_text(ErrorKind::io, [&] { checkpoints.write(1, sample()); });
}

}  // namespace
}  // namespace thalweg::train
