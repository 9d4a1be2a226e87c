#include "base/cpus.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <sched.h>

#include <thalweg/base/env.h>

namespace thalweg {
namespace {

int distinct_cores(const std::vector<int>& cpus, const std::string& root) {
  std::set<std::string> cores;
  for (int cpu : cpus) {
    std::ifstream file(
        fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", root, cpu));
    std::string siblings;
    cores.insert(std::getline(file, siblings) ? siblings : fmt::format("cpu {}", cpu));
  }
  return static_cast<int>(cores.size());
}

// CPUs by version 2's "quota period" in cpu.max, or version 1's two files; infinite without limit.
double quota_in(const std::string& folder) {
  double quota = 0;
  double period = 0;
  if (std::ifstream max(folder + "/cpu.max"); max >> quota >> period) return quota / period;
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  if (quota_file >> quota && period_file >> period && quota > 0) return quota / period;
  return std::numeric_limits<double>::infinity();
}

// A limit of any group above binds too. In a container the path may be the host's and not exist
// under the mount; its upper part, the mount itself, is the container's group.
double quota_up_from(const std::string& mount, std::string path) {
  double quota = quota_in(mount);
  while (!path.empty()) {
    quota = std::min(quota, quota_in(mount + path));
    path.resize(path.find_last_of('/'));
  }
  return quota;
}

// Lines of /proc/self/cgroup: "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1.
double cgroup_quota(const std::string& root) {
  double quota = std::numeric_limits<double>::infinity();
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    std::istringstream names(controllers);
    bool has_cpu = controllers.empty();
    for (std::string name; std::getline(names, name, ',');) has_cpu |= name == "cpu";
    if (!has_cpu) continue;
    const std::string mount =
        root + "/sys/fs/cgroup" + (controllers.empty() ? "" : "/" + controllers);
    quota = std::min(quota, quota_up_from(mount, path));
  }
  return quota;
}

// May be a list, one number per nesting level: the first is ours. What OpenMP itself would refuse
// is as good as not set.
int omp_setting() {
  const std::optional<std::string> text = env_string("OMP_NUM_THREADS");
  return text ? static_cast<int>(std::clamp(std::atoll(text->c_str()), 0LL, 1LL * kMaxThreads)) : 0;
}

}  // namespace

std::vector<int> allowed_cpus() {
  // The kernel refuses a mask smaller than its own.
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(size));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(size));
    std::vector<int> cpus;
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    for (int cpu = 0; known && cpu < size; ++cpu)
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    if (known) return cpus;
  }
  return {0};
}

int usable_cores(const std::vector<int>& cpus, const std::string& root) {
  const double quota = std::min(cgroup_quota(root), 1e6);
  return std::max(1, std::min(distinct_cores(cpus, root), static_cast<int>(quota)));
}

int default_num_threads() {
  if (const auto threads = env_int("THALWEG_THREADS", 1, kMaxThreads)) {
    return static_cast<int>(*threads);
  }
  if (const int threads = omp_setting()) return threads;
  return usable_cores(allowed_cpus());
}

}  // namespace thalweg
