#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/device/device.h>

namespace thalweg {
namespace {

TEST(Device, ReadsItsOwnNames) {
  EXPECT_EQ(parse_device("cpu"), Device::cpu());
  EXPECT_EQ(to_string(Device::cuda(3)), "cuda:3");
}

TEST(Device, RefusesOtherWordsWithTheOnesItKnows) {
  for (const char* text :
       {"", "gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda:300", "cpu:0"}) {
    try {
      parse_device(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid) << text;
      EXPECT_NE(std::string(error.what()).find("cuda:INDEX"), std::string::npos) << error.what();
    }
  }
}

TEST(Device, SaysWhyAGpuCannotBeUsed) {
  if (device_count(DeviceKind::cuda) > 0) GTEST_SKIP() << "a GPU is present";
  try {
    parse_device("cuda:0");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_TRUE(std::string(error.what()).starts_with("device: cuda:0 cannot be used; "))
        << error.what();
  }
}

}  // namespace
}  // namespace thalweg
