// thalweg_bench [names] [--threads N] [--json]: the fixed workloads, a line each.

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <thalweg/base/error.h>
#include <thalweg/base/threads.h>

#include "bench/workloads/workload.h"

int main(int argc, char** argv) {
  std::vector<std::string> names;
  int threads = 0;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      json = true;
    } else if (word == "--threads" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      threads = std::atoi(argv[++i]);
    } else if (word.starts_with("-")) {
      fmt::print(stderr, "usage: thalweg_bench [names] [--threads N] [--json]\n");
      return 2;
    } else {
      names.push_back(word);
    }
  }
  try {
    thalweg::bench::run_workloads(names, threads, json);
  } catch (const thalweg::Error& error) {
    fmt::print(stderr, "thalweg_bench: {}\n", error.what());
    return error.kind() == thalweg::ErrorKind::invalid ? 2 : 1;
  }
}
