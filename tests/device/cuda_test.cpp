#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg {
namespace {

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count(DeviceKind::cuda) == 0) GTEST_SKIP() << "no CUDA device on this machine";
  }
};

TEST_F(Cuda, CopiesThereAndBackAreTheSameBytes) {
  std::vector<float> values(100000);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor there = Tensor::of(values).to(Device::cuda());
  EXPECT_EQ(there.device(), Device::cuda());
  EXPECT_EQ(there.to(Device::cpu()).to_vector<float>(), values);
  EXPECT_EQ(there.to_vector<float>(), values);
}

TEST_F(Cuda, CountsMemoryAndKeepsWhatIsFreed) {
  const size_t before = memory_stats(Device::cuda()).live;
  {
    const Tensor x = Tensor::zeros({1 << 20}, {.device = Device::cuda()});
    EXPECT_EQ(memory_stats(Device::cuda()).live, before + (4u << 20));
  }
  EXPECT_EQ(memory_stats(Device::cuda()).live, before);
  EXPECT_GE(memory_stats(Device::cuda()).cached, 4u << 20);
}

TEST_F(Cuda, RefusesAnOpOnTensorsOfTwoDevices) {
  const Tensor x = Tensor::ones({2});
  EXPECT_THROW(x + x.to(Device::cuda()), Error);
}

}  // namespace
}  // namespace thalweg
