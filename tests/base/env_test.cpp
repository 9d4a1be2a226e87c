#include <cstdlib>

#include <gtest/gtest.h>

#include <thalweg/base/env.h>
#include <thalweg/base/error.h>

namespace thalweg {
namespace {

constexpr const char* kName = "THALWEG_ENV_TEST";

class Env : public testing::Test {
 protected:
  ~Env() override { unsetenv(kName); }
};

TEST_F(Env, UnsetAndEmptyAreNoValue) {
  EXPECT_EQ(env_string(kName), std::nullopt);
  EXPECT_EQ(env_int(kName, 0, 9), std::nullopt);
  setenv(kName, "", 1);
  EXPECT_EQ(env_string(kName), std::nullopt);
  EXPECT_EQ(env_int(kName, 0, 9), std::nullopt);
}

TEST_F(Env, ReadsIntegersWithinTheirBounds) {
  for (int64_t value : {-3, 0, 7}) {
    setenv(kName, std::to_string(value).c_str(), 1);
    EXPECT_EQ(env_int(kName, -3, 7), value);
  }
}

TEST_F(Env, RefusesWhatIsNoIntegerInBoundsByNameAndValue) {
  for (const char* bad : {"8", "-4", "two", "1.5", "1 ", " 1", "0x1", "99999999999999999999"}) {
    setenv(kName, bad, 1);
    try {
      env_int(kName, -3, 7);
      ADD_FAILURE() << "accepted " << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid);
      EXPECT_EQ(error.what(), std::string("environment: THALWEG_ENV_TEST is not an integer from -3 "
                                          "to 7; THALWEG_ENV_TEST=") +
                                  bad);
    }
  }
}

}  // namespace
}  // namespace thalweg
