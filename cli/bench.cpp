#include "bench/workloads/workload.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

namespace thalweg::cli {

int run_bench(const BenchOptions& options) {
  bench::run_workloads(options.names, options.threads, options.json);
  return kExitOk;
}

}  // namespace thalweg::cli
