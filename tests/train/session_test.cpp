#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thalweg/base/clock.h>
#include <thalweg/base/file.h>
#include <thalweg/base/log.h>
#include <thalweg/base/philox.h>
#include <thalweg/ops/softmax.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "train/session_run.h"

namespace thalweg::train {
namespace {

constexpr int64_t kStepsOfEpoch = 7;  // 50 samples, 8 a batch

class Lines : public LogSink {
 public:
  Lines() : before_(set_log_sink(this)) {}
  ~Lines() override { set_log_sink(before_); }
  void write(LogLevel, std::string_view text) noexcept override { all += std::string(text) + '\n'; }

  std::string all;

 private:
  LogSink* before_;
};

// What must not depend on where a run was stopped: weights and metrics, byte by byte.
std::string outcome(const std::string& folder) {
  const RunPaths paths(folder);
  return read_file(paths.model) + read_file(paths.metrics);
}

std::string uninterrupted(const SmallRunOptions& options = {}) {
  const TempDir runs;
  SmallRun(options).start(runs.path());
  return outcome(only_folder(runs.path()));
}

TEST(Session, LearnsAndRecordsWhatItDid) {
  const TempDir runs;
  SmallRun run({.epochs = 10, .learning_rate = 0.1});
  const SessionResult result = run.start(runs.path());
  EXPECT_EQ(result.reason, EndReason::completed);
  EXPECT_EQ(result.steps, 10 * kStepsOfEpoch);
  EXPECT_GT(value_of(result.test, "accuracy", 0), 0.6);
  EXPECT_LT(value_of(result.train, "loss", 9), 1);
  EXPECT_TRUE(result.best.has_value());
  const RunPaths& paths = *run.session().paths();
  const std::vector<MetricsLine> lines = read_metrics(paths.metrics);
  const auto count = [&](const std::string& part) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const MetricsLine& line) { return line.part == part; });
  };
  EXPECT_EQ(count("step"), 10 * kStepsOfEpoch);
  EXPECT_EQ(count("train"), 10);
  EXPECT_EQ(count("test"), 10);
  EXPECT_TRUE(std::filesystem::exists(paths.report));
  EXPECT_TRUE(std::filesystem::exists(paths.model));
  const CheckpointFolder checkpoints(paths.checkpoints);
  EXPECT_EQ(checkpoints.steps(), (std::vector<int64_t>{66, 68, 70}));
  EXPECT_TRUE(std::filesystem::exists(checkpoints.best_path()));
}

TEST(Session, GivesTheSameBitsForAnyNumberOfWorkers) {
  EXPECT_EQ(uninterrupted(), uninterrupted({.workers = 2}));
}

TEST(Session, PlansItsStepsWithTheBitsOfEagerOnes) {
  const auto eagerly = [](SessionOptions& o) { o.plan = false; };
  EXPECT_EQ(uninterrupted({.epochs = 6}), uninterrupted({.epochs = 6, .change = eagerly}));
}

TEST(PlannedStep, ReplaysBatchesOfEachSizeAndSaysSo) {
  SmallRun run;
  const PlannedStep step(
      run.net(),
      [](const Tensor& logits, const data::Batch& batch) {
        return softmax_cross_entropy(logits, batch.label);
      },
      run.trainer());
  for (int i = 0; i < 8; ++i) {
    for (const int64_t size : {8, 2}) {
      data::Batch batch;
      batch.data = Tensor::full({size, 6}, 0.1 * i);
      batch.label = Tensor::zeros({size}, {.dtype = DType::i64});
      batch.size = size;
      EXPECT_TRUE(step(batch).updated);
    }
  }
  EXPECT_EQ(run.trainer().steps(), 16);
  EXPECT_NE(step.explain().find("2 plans made"), std::string::npos) << step.explain();
}

// A limit of steps that ends with a checkpoint, in place of a kill: any step, quickly.
class StopAt : public Callback {
 public:
  explicit StopAt(int64_t step) : step_(step) {}
  void on_step(Session& session, const data::Batch&, const StepOutcome&) override {
    if (session.steps() == step_) session.stop();
  }

 private:
  int64_t step_;
};

TEST(Session, GoesOnFromAnyStepWithTheSameBits) {
  for (bool from_source : {false, true}) {
    const std::string wanted = uninterrupted({.from_source = from_source});
    for (int64_t step = 1; step < 3 * kStepsOfEpoch; step += 3) {
      const TempDir runs;
      SmallRun stopped({.from_source = from_source, .change = [&](SessionOptions& o) {
                          o.callbacks = {std::make_shared<StopAt>(step)};
                        }});
      EXPECT_EQ(stopped.start(runs.path()).reason, EndReason::callback);
      const std::string folder = only_folder(runs.path());
      EXPECT_EQ(SmallRun({.workers = 2, .from_source = from_source}).go_on(folder).reason,
                EndReason::completed);
      EXPECT_EQ(outcome(folder), wanted) << "stopped at step " << step;
    }
  }
}

TEST(Session, ARunThatIsOverGoesOnWithMoreEpochs) {
  const TempDir runs;
  SmallRun({.epochs = 1}).start(runs.path());
  const std::string folder = only_folder(runs.path());
  EXPECT_EQ(SmallRun({.epochs = 1}).go_on(folder).steps, kStepsOfEpoch);
  EXPECT_EQ(SmallRun({.epochs = 3}).go_on(folder).steps, 3 * kStepsOfEpoch);
  EXPECT_EQ(outcome(folder), uninterrupted());
}

// The child has no test framework left: it runs and ends, or is killed.
[[noreturn]] void run_child(const std::string& runs) {
  try {
    const std::string folder = only_folder(runs);
    if (folder.empty())
      SmallRun().start(runs);
    else
      SmallRun().go_on(folder);
    _exit(0);
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    // A kill before the folder was complete leaves none to go on in.
    if (!std::filesystem::exists(only_folder(runs) + "/metrics.jsonl")) {
      std::filesystem::remove_all(only_folder(runs));
      _exit(2);
    }
    _exit(1);
  }
}

// Kills runs at random times until one comes to its end. Each goes on from what the one before
// left.
TEST(Session, KilledAtAnyTimeEndsWithTheSameBits) {
  const std::string wanted = uninterrupted();
  Philox random(static_cast<uint64_t>(getpid()));
  Stopwatch watch;
  int kills = 0;
  for (int round = 0; round < 12 && watch.seconds() < 60; ++round) {
    const TempDir runs;
    uint32_t patience = 60000;  // grows, so that a slow machine comes to the end too
    for (bool ended = false; !ended; patience += patience / 8) {
      const pid_t child = fork();
      if (child == 0) run_child(runs.path());
      usleep(1000 + random.bounded(patience));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
      kills += WIFSIGNALED(status);
    }
    ASSERT_EQ(outcome(only_folder(runs.path())), wanted) << "round " << round;
  }
  EXPECT_GT(kills, 0);
}

TEST(Session, ASignalFinishesTheStepAndSaysHowToGoOn) {
  const TempDir runs;
  class Interrupt : public Callback {
   public:
    void on_step(Session& session, const data::Batch&, const StepOutcome&) override {
      if (session.steps() == 5) std::raise(SIGTERM);
    }
  };
  Lines lines;
  SmallRun run({.change = [](SessionOptions& o) {
    o.callbacks = {std::make_shared<Interrupt>()};
    o.resume_command = "thalweg train --resume {}";
  }});
  const SessionResult result = run.start(runs.path());
  EXPECT_EQ(result.reason, EndReason::signal);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(result.steps, 5);
  const std::string folder = only_folder(runs.path());
  EXPECT_NE(lines.all.find("stopped by SIGTERM after step 5"), std::string::npos) << lines.all;
  EXPECT_NE(lines.all.find("go on with: thalweg train --resume " + folder), std::string::npos);
  SmallRun().go_on(folder);
  EXPECT_EQ(outcome(folder), uninterrupted());
}

TEST(Session, DamagedCheckpointIsPassedOverForThePreviousOne) {
  const TempDir runs;
  SmallRun({.epochs = 1}).start(runs.path());
  const std::string folder = only_folder(runs.path());
  const CheckpointFolder checkpoints(RunPaths(folder).checkpoints);
  std::filesystem::resize_file(checkpoints.path_of(7), 1000);
  Lines lines;
  SmallRun().go_on(folder);
  EXPECT_NE(lines.all.find(checkpoints.path_of(7)), std::string::npos) << lines.all;
  EXPECT_EQ(outcome(folder), uninterrupted());
}

TEST(Session, StopsAtALossThatIsNotFiniteAndNamesTheParameter) {
  const TempDir runs;
  class Poison : public Callback {
   public:
    void on_step(Session& session, const data::Batch&, const StepOutcome&) override {
      if (session.steps() != 3) return;
      const nn::ParameterList parameters = session.net().parameters();
      parameters["0.bias"].data().fill(std::numeric_limits<double>::quiet_NaN());
    }
  };
  SmallRun run({.clip_norm = {},
                .change = [](SessionOptions& o) { o.callbacks = {std::make_shared<Poison>()}; }});
  const std::string text = error_text(ErrorKind::invalid, [&] { run.start(runs.path()); });
  const CheckpointFolder checkpoints(run.session().paths()->checkpoints);
  EXPECT_EQ(text,
            "session: the loss is nan at step 4 (epoch 1); the first parameter with a gradient "
            "that is not finite is 0.weight; try a lower learning rate or clip_norm; the last "
            "checkpoint is " +
                checkpoints.path_of(2));
  const std::string report = read_file(run.session().paths()->report);
  EXPECT_NE(report.find("failed: session: the loss is nan"), std::string::npos);
}

TEST(Session, EarlyStoppingCountsEvaluationsWithoutImprovement) {
  const TempDir runs;
  SmallRun run({.epochs = 50, .learning_rate = 0, .change = [](SessionOptions& o) {
                  o.early_stopping.patience = 3;
                }});
  const SessionResult result = run.start(runs.path());
  EXPECT_EQ(result.reason, EndReason::early_stopping);
  EXPECT_EQ(result.steps, 4 * kStepsOfEpoch);  // the first is the best
  EXPECT_EQ(result.best_step, kStepsOfEpoch);
}

TEST(Session, EvaluatesAtStepsToo) {
  const TempDir runs;
  SmallRun run({.epochs = 2, .change = [](SessionOptions& o) { o.evaluate_every_steps = 5; }});
  run.start(runs.path());
  std::vector<int64_t> steps;
  for (const MetricsLine& line : read_metrics(run.session().paths()->metrics))
    if (line.part == "test") steps.push_back(line.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{5, 7, 10, 14}));
}

TEST(Session, WritesCheckpointsByTheClock) {
  const TempDir runs;
  SmallRun run({.epochs = 1, .change = [](SessionOptions& o) {
                  o.checkpoints = {.every_steps = 1000, .every_minutes = 1e-9, .keep_last = 0};
                }});
  run.start(runs.path());
  EXPECT_EQ(CheckpointFolder(run.session().paths()->checkpoints).steps().size(),
            static_cast<size_t>(kStepsOfEpoch));
}

TEST(Session, TheDirectionOfAMonitoredFigureComesFromItsMetric) {
  const TempDir runs;
  SmallRun run({.epochs = 4, .change = [](SessionOptions& o) { o.monitor.figure = "loss"; }});
  const SessionResult result = run.start(runs.path());
  double least = std::numeric_limits<double>::infinity();
  for (const MetricsLine& line : read_metrics(run.session().paths()->metrics))
    if (line.part == "test") least = std::min(least, value_of(line.figures, "loss", 0));
  EXPECT_EQ(*result.best, least);
}

TEST(Session, RejectsAMetricThatIsGivenTwice) {
  const auto twice = [](SessionOptions& options) {
    options.metrics = {metric::accuracy(), metric::accuracy()};
  };
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { SmallRun({.change = twice}); }),
            "session: the metric 'accuracy' is given twice");
}

TEST(Session, RejectsOptionsThatDoNotFit) {
  const auto text = [](const std::function<void(SessionOptions&)>& change) {
    return error_text(ErrorKind::invalid, [&] {
      SmallRun run({.change = change});
      run.session().run();
    });
  };
  EXPECT_EQ(text([](SessionOptions& o) { o.epochs = -1; }),
            "session: epochs is -1; it must not be negative");
  EXPECT_EQ(text([](SessionOptions& o) { o.monitor.figure = "acuracy"; }),
            "session: the evaluation has no figure 'acuracy' to monitor; it has loss, accuracy, "
            "confusion");
  EXPECT_EQ(text([](SessionOptions& o) {
              o.evaluation = nullptr;
              o.early_stopping.patience = 1;
            }),
            "session: early stopping needs an evaluation; set .evaluation");
}

TEST(Session, WithoutCheckpointsARunBeginsAnewAndSaysSo) {
  const TempDir runs;
  SmallRun().start(runs.path());
  const std::string folder = only_folder(runs.path());
  std::filesystem::remove_all(RunPaths(folder).checkpoints);
  Lines lines;
  SmallRun().go_on(folder);
  EXPECT_NE(lines.all.find("there is no checkpoint in " + folder), std::string::npos) << lines.all;
  EXPECT_EQ(outcome(folder), uninterrupted());
}

TEST(Session, GivesTheWeightsOfACheckpointToAnotherNet) {
  const TempDir runs;
  SmallRun run;
  run.start(runs.path());
  const CheckpointFolder checkpoints(RunPaths(only_folder(runs.path())).checkpoints);
  EXPECT_TRUE(is_checkpoint(checkpoints.best_path()));
  EXPECT_FALSE(is_checkpoint(RunPaths(only_folder(runs.path())).model));
  const Checkpoint checkpoint = checkpoints.newest();
  SmallRun other({.learning_rate = 0.5});
  load_weights(other.net(), checkpoint);
  for (const nn::NamedParameter& item : other.net().parameters()) {
    EXPECT_EQ(to_string(item.parameter.data()),
              to_string(checkpoint.tensor("weights/" + item.name)));
  }
}

}  // namespace
}  // namespace thalweg::train
