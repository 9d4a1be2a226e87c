#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>

#include "ops/table.h"

namespace thalweg {
namespace {

bool has_kernel(std::string_view op, std::string_view kernel) {
  const auto kernels = find_op(op).kernels[static_cast<int>(DeviceKind::cpu)].all();
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const Kernel& each) { return each.name == kernel; });
}

TEST(KernelsLeftOut, AreThoseThatTheEnvironmentNames) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("THALWEG_WITHOUT", "winograd,nothing", 1);
        relu(Tensor::ones({2}));
        std::exit(has_kernel("conv", "patches") && !has_kernel("conv", "winograd") ? 0 : 1);
      },
      testing::ExitedWithCode(0), "THALWEG_WITHOUT: no kernel is named 'nothing'");
}

}  // namespace
}  // namespace thalweg
