// train_samples <folder>
// Writes what the Python tests read: a report, and a run's folder of which the event files are a
// part.

#include <cstdio>
#include <exception>
#include <string>

#include <thalweg/train/report.h>
#include <thalweg/train/run_folder.h>

#include "train/report_sample.h"

namespace {

using namespace thalweg::train;

// Trains for 20 steps, stops, goes on after step 10 with other figures.
void write_run(const std::string& folder) {
  std::string run_folder;
  {
    RunFolder run = RunFolder::create(folder, "sample", "name = \"sample\"\nepochs = 2\n");
    run_folder = run.paths().folder;
    for (int step = 1; step <= 20; ++step)
      run.log({step, 1, "step", {{"loss", 1.0 / step}, {"learning_rate", 0.5}}});
  }
  RunFolder run = RunFolder::resume(run_folder, 10);
  for (int step = 11; step <= 12; ++step)
    run.log({step, 2, "step", {{"loss", 2.0 * step}, {"learning_rate", 0.25}}});
  run.log({12, 2, "test", {{"accuracy", 0.75}}});
  std::printf("%s\n", run_folder.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    write_report(std::string(argv[1]) + "/report.html", sample_report());
    write_run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
