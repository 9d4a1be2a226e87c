#pragma once

#include <string>
#include <vector>

namespace thalweg {

inline constexpr int kMaxThreads = 4096;

/// The CPUs in this process's affinity mask.
std::vector<int> allowed_cpus();

/// Physical cores that a process allowed on `cpus` may keep busy: threads of one core count once,
/// and no more than its cgroup's CPU quota, but at least 1. `root` stands for "/" in tests.
int usable_cores(const std::vector<int>& cpus, const std::string& root = "");

/// THALWEG_THREADS, else OMP_NUM_THREADS, else usable_cores(allowed_cpus()).
int default_num_threads();

}  // namespace thalweg
