// host_instructions WORK CALLS: does the work so many times and nothing else, for
// bench/instructions to count under callgrind.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/workloads/workload.h"

int main(int argc, char** argv) {
  const std::string_view work = argc == 3 ? argv[1] : "";
  std::function<void()> step;
  if (work == "add1") step = thalweg::bench::add1_step(false);
  if (work == "add1_recorded") step = thalweg::bench::add1_step(true);
  if (work == "step444") step = thalweg::bench::step444_step();
  if (work == "step444_plan") step = thalweg::bench::step444_plan_step();
  if (!step) {
    std::fprintf(stderr,
                 "usage: host_instructions add1|add1_recorded|step444|step444_plan CALLS\n");
    return 2;
  }
  for (int i = std::atoi(argv[2]); i > 0; --i) step();
}
