#include "bench/workloads/workload.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <thalweg/base/clock.h>
#include <thalweg/base/text.h>
#include <thalweg/base/threads.h>

#include "base/fail.h"

namespace thalweg::bench {
namespace {

constexpr Workload kWorkloads[] = {
    {"add1", "one add of 1-element tensors, alone and on the tape", run_add1},
    {"step444", "a training step of a 4-4-4 net, batch 4", run_step444},
    {"step444_plan", "the same as a plan", run_step444_plan},
    {"loader", "60,000 x 784 f32 in memory, shuffled, batch 128", run_loader},
    {"source", "the same from a minibatch source, against a bare gather", run_source},
    {"lenet", "a training step of LeNet on 64 images", run_lenet},
    {"lenet_plan", "the same as a plan", run_lenet_plan},
    {"lstm", "a training step of an LSTM tagger on 32 sequences of 20", run_lstm},
    {"lstm_plan", "the same as a plan", run_lstm_plan},
    {"gpt", "a training step of a small GPT on 16 texts of 128 characters", run_gpt},
    {"gpt_plan", "the same as a plan", run_gpt_plan},
    {"resnet20", "a training step of ResNet-20 on 32 images of 32 x 32", run_resnet20},
    {"resnet20_plan", "the same as a plan", run_resnet20_plan},
    {"mlp", "an epoch of a 784-64-64-10 net on Fashion-MNIST, batch 64", run_mlp},
    {"mlp_plan", "the same as a plan", run_mlp_plan},
};

}  // namespace

std::span<const Workload> workloads() { return kWorkloads; }

std::vector<const Workload*> find_workloads(std::span<const std::string> names) {
  std::vector<const Workload*> found;
  if (names.empty()) {
    for (const Workload& workload : kWorkloads) found.push_back(&workload);
  }
  std::vector<std::string_view> known;
  for (const Workload& workload : kWorkloads) known.push_back(workload.name);
  for (const std::string& name : names) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end()) {
      fail_invalid("bench: there is no workload '{}'; known are {}{}", name, fmt::join(known, ", "),
                   did_you_mean(name, known));
    }
    found.push_back(&kWorkloads[at - known.begin()]);
  }
  return found;
}

void run_workloads(std::span<const std::string> names, int threads, bool json) {
  const std::vector<const Workload*> chosen = find_workloads(names);
  if (threads > 0) set_num_threads(threads);
  for (const Workload* workload : chosen) {
    for (const Line& line : workload->run()) {
      fmt::print("{}\n", json ? to_json(line) : to_text(line));
      std::fflush(stdout);
    }
  }
}

std::string to_json(const Line& line) {
  nlohmann::ordered_json object = {{"work", line.work}};
  if (!line.mode.empty()) object["mode"] = line.mode;
  for (const auto& [name, value] : line.figures) object[name] = value;
  object["threads"] = num_threads();
  return object.dump();
}

std::string to_text(const Line& line) {
  std::vector<std::string> figures;
  for (const auto& [name, value] : line.figures)
    figures.push_back(fmt::format("{} {:.4g}", name, value));
  return fmt::format("{:<22} {}", line.work + (line.mode.empty() ? "" : " " + line.mode),
                     fmt::join(figures, "  "));
}

double best_seconds(const std::function<void()>& step, int n, int blocks) {
  for (int i = 0; i < 2; ++i) step();
  double best = 1e300;
  for (int block = 0; block < blocks; ++block) {
    const Stopwatch watch;
    for (int i = 0; i < n; ++i) step();
    best = std::min(best, watch.seconds() / n);
  }
  return best;
}

void check(bool holds, std::string_view what) {
  if (!holds) fail(ErrorKind::internal, "bench: the result is wrong; {}; nothing was timed", what);
}

}  // namespace thalweg::bench
