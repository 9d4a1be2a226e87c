#include "base/cpus.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>

#include "base/temp_dir.h"

namespace thalweg {
namespace {

// A machine of 4 cores with 2 threads each, Linux's numbering.
class Cpus : public testing::Test {
 protected:
  Cpus() {
    for (int cpu = 0; cpu < 8; ++cpu)
      root_.write(
          "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4) + "\n");
  }

  TempDir root_;
  const std::vector<int> all_{0, 1, 2, 3, 4, 5, 6, 7};
};

TEST_F(Cpus, ThreadsOfOneCoreCountOnce) {
  EXPECT_EQ(usable_cores(all_, root_.path()), 4);
  EXPECT_EQ(usable_cores({0, 4}, root_.path()), 1);
  EXPECT_EQ(usable_cores({0, 5}, root_.path()), 2);
}

TEST_F(Cpus, WithoutTopologyEachCpuIsACore) {
  EXPECT_EQ(usable_cores({0, 1, 2}, TempDir().path()), 3);
}

TEST_F(Cpus, QuotaOfAnyGroupAboveBindsInVersion2) {
  root_.write("proc/self/cgroup", "0::/job/step\n");
  root_.write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  EXPECT_EQ(usable_cores(all_, root_.path()), 4);
  root_.write("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  EXPECT_EQ(usable_cores(all_, root_.path()), 2);
  root_.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(usable_cores(all_, root_.path()), 1);
}

TEST_F(Cpus, QuotaBindsInVersion1) {
  root_.write("proc/self/cgroup", "9:name=systemd:/\n3:cpu,cpuacct:/docker/abc\n0::/\n");
  const std::string group = "sys/fs/cgroup/cpu,cpuacct/";  // the container's mount is the group
  root_.write(group + "cpu.cfs_period_us", "100000\n");
  root_.write(group + "cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(usable_cores(all_, root_.path()), 4);
  root_.write(group + "cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(usable_cores(all_, root_.path()), 3);
}

TEST_F(Cpus, ThisProcessHasAtLeastOne) {
  EXPECT_FALSE(allowed_cpus().empty());
  EXPECT_GE(usable_cores(allowed_cpus()), 1);
}

TEST_F(Cpus, TheEnvironmentDecidesTheThreadCountOursFirst) {
  unsetenv("THALWEG_THREADS");
  setenv("OMP_NUM_THREADS", "6,2", 1);
  EXPECT_EQ(default_num_threads(), 6);
  setenv("THALWEG_THREADS", "5", 1);
  EXPECT_EQ(default_num_threads(), 5);
  setenv("THALWEG_THREADS", "many", 1);
  EXPECT_THROW(default_num_threads(), Error);
  unsetenv("THALWEG_THREADS");
  setenv("OMP_NUM_THREADS", "many", 1);
  EXPECT_EQ(default_num_threads(), usable_cores(allowed_cpus()));
  unsetenv("OMP_NUM_THREADS");
}

}  // namespace
}  // namespace thalweg
