#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thalweg/base/error.h>
#include <thalweg/train/run_folder.h>

#include "train/event_record.h"

namespace thalweg::train {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void append(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("thalweg_run_" + std::to_string(getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  RunFolder create(std::string_view name = "mlp") const {
    return RunFolder::create(root_.string(), name, "name = \"mlp\"\n");
  }

  // Steps `first` to `last` of a run, with an evaluation at every tenth.
  static void log_steps(RunFolder& run, int64_t first, int64_t last) {
    for (int64_t step = first; step <= last; ++step) {
      run.log({step, 1 + step / 10, "step", {{"loss", 1.0 / static_cast<double>(step)}}});
      if (step % 10 == 0) run.log({step, 1 + step / 10, "test", {{"accuracy", 0.5}}});
    }
  }

  // The steps of all events with scalars, over all event files in the order of their names.
  static std::vector<int64_t> event_steps(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().filename().string().starts_with("events.out.tfevents."))
        files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    std::vector<int64_t> steps;
    for (const std::string& file : files) {
      const std::string bytes = read(file);
      std::string_view left = bytes;
      while (const auto message = next_record(left))
        if (message->find("loss") != message->npos) steps.push_back(*step_of_event(*message));
      EXPECT_TRUE(left.empty()) << file;
    }
    return steps;
  }

  fs::path root_;
};

TEST_F(RunFolderTest, HoldsSettingsMetricsEventsAndCheckpoints) {
  RunFolder run = create();
  const RunPaths paths = run.paths();
  EXPECT_THAT(paths.folder, MatchesRegex(root_.string() + "/mlp-[0-9]{8}T[0-9]{6}Z"));
  EXPECT_EQ(read(paths.config), "name = \"mlp\"\n");
  EXPECT_TRUE(fs::is_directory(paths.checkpoints));
  run.log({938, 1, "train", {{"loss", 0.52}, {"accuracy", 0.81}}});
  EXPECT_EQ(read(paths.metrics),
            "{\"step\":938,\"epoch\":1,\"part\":\"train\",\"loss\":0.52,\"accuracy\":0.81}\n");
}

TEST_F(RunFolderTest, NeverTakesAFolderThatIsThere) {
  const RunFolder a = create(), b = create(), c = create();
  EXPECT_NE(a.paths().folder, b.paths().folder);
  EXPECT_NE(b.paths().folder, c.paths().folder);
  EXPECT_NE(a.paths().folder, c.paths().folder);
}

TEST_F(RunFolderTest, MakesASafeNameOfAnyText) {
  EXPECT_THAT(create("../a b/\xc3\xa9").paths().folder,
              MatchesRegex(root_.string() + "/_\\.-a-b----[0-9TZ]*"));
  EXPECT_THAT(create("--help").paths().folder, MatchesRegex(root_.string() + "/_-help-[0-9TZ]*"));
  EXPECT_THAT(create("").paths().folder, MatchesRegex(root_.string() + "/run-[0-9TZ]*"));
}

TEST_F(RunFolderTest, GivesBackWhatWasLogged) {
  const double infinity = std::numeric_limits<double>::infinity();
  RunFolder run = create();
  run.log({1, 1, "train", {{"loss", 0.1}, {"top \"5\"", -infinity}}});
  run.log({2, 1, "test", {{"loss", std::nan("")}, {"norm", infinity}}});
  const std::vector<MetricsLine> lines = read_metrics(run.paths().metrics);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].part, "train");
  EXPECT_EQ(lines[0].figures[0].value, 0.1);
  EXPECT_EQ(lines[0].figures[1].name, "top \"5\"");
  EXPECT_EQ(lines[0].figures[1].value, -infinity);
  EXPECT_EQ(lines[1].step, 2);
  EXPECT_TRUE(std::isnan(lines[1].figures[0].value));
  EXPECT_EQ(lines[1].figures[1].value, infinity);
}

TEST_F(RunFolderTest, ResumedEqualsNeverStopped) {
  std::string whole_metrics;
  {
    RunFolder whole = create();
    log_steps(whole, 1, 30);
    whole_metrics = read(whole.paths().metrics);
  }
  std::string folder;
  {
    RunFolder stopped = create();
    folder = stopped.paths().folder;
    log_steps(stopped, 1, 25);
  }
  {
    RunFolder resumed = RunFolder::resume(folder, 20);
    log_steps(resumed, 21, 30);
    EXPECT_EQ(read(resumed.paths().metrics), whole_metrics);
  }
  std::vector<int64_t> every_step(30);
  std::iota(every_step.begin(), every_step.end(), 1);
  EXPECT_EQ(event_steps(folder), every_step);
}

TEST_F(RunFolderTest, SurvivesAKilledProcess) {
  const std::string folder = create().paths().folder;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RunFolder run = RunFolder::resume(folder, 0);
    log_steps(run, 1, 5);
    run.sync();
    log_steps(run, 6, 8);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_metrics(folder + "/metrics.jsonl").size(), 8U);
  RunFolder run = RunFolder::resume(folder, 5);
  log_steps(run, 6, 7);
  run.sync();
  EXPECT_EQ(read_metrics(folder + "/metrics.jsonl").size(), 7U);
  EXPECT_THAT(event_steps(folder), ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST_F(RunFolderTest, DropsATornLastLineAndATornRecord) {
  RunFolder run = create();
  const RunPaths paths = run.paths();
  log_steps(run, 1, 3);
  { const RunFolder closed = std::move(run); }
  append(paths.metrics, "{\"step\":4,\"epo");
  for (const auto& entry : fs::directory_iterator(paths.folder))
    if (entry.path().string().find("tfevents") != std::string::npos) append(entry.path(), "torn");
  EXPECT_EQ(read_metrics(paths.metrics).size(), 3U);
  RunFolder resumed = RunFolder::resume(paths.folder, 100);
  resumed.log({101, 1, "train", {{"loss", 1}}});
  resumed.sync();
  EXPECT_EQ(read_metrics(paths.metrics).size(), 4U);
  EXPECT_THAT(event_steps(paths.folder), ElementsAre(1, 2, 3, 101));
}

TEST_F(RunFolderTest, NamesTheLineThatIsDamaged) {
  const RunPaths paths = create().paths();
  append(paths.metrics, "{\"step\":1,\"epoch\":1,\"part\":\"train\"}\nnonsense\n");
  const std::string before = read(paths.metrics);
  EXPECT_THAT(error_of([&] { RunFolder::resume(paths.folder, 9); }),
              HasSubstr(paths.metrics + ":2: not a line of metrics"));
  EXPECT_EQ(read(paths.metrics), before);
}

TEST_F(RunFolderTest, RejectsAFolderOfSomethingElse) {
  fs::create_directories(root_);
  EXPECT_EQ(error_of([&] { RunFolder::resume(root_.string(), 0); }),
            "run folder: " + root_.string() + " is no run's folder; it has no config.toml");
}

TEST_F(RunFolderTest, RejectsARunThatIsBeingWritten) {
  const RunFolder run = create();
  EXPECT_THAT(error_of([&] { RunFolder::resume(run.paths().folder, 0); }),
              HasSubstr("another process may be writing this run"));
}

TEST_F(RunFolderTest, RejectsStepsThatDecreaseAndNamesThatClash) {
  RunFolder run = create();
  run.log({5, 1, "train", {}});
  EXPECT_THAT(error_of([&] {
                run.log({4, 1, "train", {}});
              }),
              HasSubstr("step 4 after those of step 5"));
  EXPECT_THAT(error_of([&] {
                run.log({6, 1, "train", {{"epoch", 1}}});
              }),
              HasSubstr("must not be named 'epoch'"));
  EXPECT_EQ(read_metrics(run.paths().metrics).size(), 1U);
}

TEST_F(RunFolderTest, SaysWhereItCouldNotBeMade) {
  const std::string error = error_of([] { RunFolder::create("/proc/runs", "mlp", ""); });
  EXPECT_THAT(error, HasSubstr("run folder: cannot create /proc/runs/mlp-"));
  EXPECT_THAT(error, HasSubstr("name a folder that can be written"));
}

// A limit on the size of files stands in for a full disk: part of a line fits.
TEST_F(RunFolderTest, LosesNothingOnAFullDisk) {
  RunFolder run = create();
  log_steps(run, 1, 9);
  const std::string before = read(run.paths().metrics);
  signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit full{before.size() + 10, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  const std::string error = error_of([&] { run.log({10, 1, "train", {{"loss", 1}}}); });
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_THAT(error, StartsWith("append: "));
  EXPECT_THAT(error, HasSubstr(run.paths().metrics));
  EXPECT_EQ(read(run.paths().metrics), before);
  run.log({10, 1, "train", {{"loss", 1}}});
  EXPECT_EQ(read_metrics(run.paths().metrics).size(), 10U);
}

}  // namespace
}  // namespace thalweg::train
