#pragma once

// The workloads that are also written for peers, see bench/peer. Each checks its results before it
// is timed, and gives the best of several blocks.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::bench {

/// One measurement: a JSON line of thalweg_bench.
struct Line {
  std::string work;
  std::string mode = {};  ///< a variant of the work; not printed if empty
  std::vector<std::pair<std::string, double>> figures = {};
};

struct Workload {
  std::string_view name;
  std::string_view doc;
  std::vector<Line> (*run)();
};

/// All of them, the quickest first.
std::span<const Workload> workloads();

/// The workloads of these names, or all for none. Throws Error{invalid} with the nearest name.
std::vector<const Workload*> find_workloads(std::span<const std::string> names);

/// Runs the workloads and prints their lines, each as soon as it is there. `threads` 0: as they
/// are.
void run_workloads(std::span<const std::string> names, int threads, bool json);

/// {"work": "step444", "us": 2.91, "threads": 1}
std::string to_json(const Line& line);

/// The same for people.
std::string to_text(const Line& line);

/// Seconds of one call of `step`: the best of `blocks` blocks of `n` calls, after two calls to warm
/// up.
double best_seconds(const std::function<void()>& step, int n, int blocks = 5);

/// Throws Error{internal}: the workload computes something else than it should.
void check(bool holds, std::string_view what);

/// One add, one training step: for counting instructions.
std::function<void()> add1_step(bool recorded);
std::function<void()> step444_step();
std::function<void()> step444_plan_step();

std::vector<Line> run_add1();
std::vector<Line> run_step444();
std::vector<Line> run_step444_plan();
std::vector<Line> run_mlp();
std::vector<Line> run_mlp_plan();
std::vector<Line> run_gpt();
std::vector<Line> run_gpt_plan();
std::vector<Line> run_lenet();
std::vector<Line> run_lenet_plan();
std::vector<Line> run_lstm();
std::vector<Line> run_lstm_plan();
std::vector<Line> run_resnet20();
std::vector<Line> run_resnet20_plan();
std::vector<Line> run_loader();
std::vector<Line> run_source();

}  // namespace thalweg::bench
