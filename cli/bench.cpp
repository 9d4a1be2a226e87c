#include <fmt/format.h>

#include "bench/workloads/workload.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

namespace thalweg::cli {

int run_bench(const BenchOptions& options) {
  bench::run_workloads(options.names, options.threads, options.json);
  return kExitOk;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const bench::Workload& workload : bench::workloads()) names.emplace_back(workload.name);
  return names;
}

std::string workload_table() {
  std::string text = "Workloads:\n";
  for (const bench::Workload& workload : bench::workloads())
    text += fmt::format("  {:<16} {}\n", workload.name, workload.doc);
  return text;
}

}  // namespace thalweg::cli
