#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/base/error.h>

#include "base/fail.h"

namespace thalweg {
namespace {

TEST(Error, CarriesItsKindAndItsText) {
  try {
    fail_invalid("matmul: inner dimensions differ: {} != {}", 64, 128);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_STREQ(error.what(), "matmul: inner dimensions differ: 64 != 128");
  }
}

TEST(Error, KeepsTheInnermostPlace) {
  Error error(ErrorKind::io, "read: the file ends early");
  error.set_place("mlp.2 (Dense)");
  error.set_place("mlp (Sequential)");
  EXPECT_STREQ(error.what(), "read: the file ends early, in mlp.2 (Dense)");
}

TEST(Error, NamesEveryKind) {
  EXPECT_STREQ(name(ErrorKind::invalid), "invalid");
  EXPECT_STREQ(name(ErrorKind::io), "io");
  EXPECT_STREQ(name(ErrorKind::unavailable), "unavailable");
  EXPECT_STREQ(name(ErrorKind::internal), "internal");
}

TEST(Error, NamesTheConditionThatAnAssertFound) {
  try {
    THALWEG_ASSERT(1 + 1 == 3);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_THAT(std::string(error.what()), ::testing::HasSubstr("1 + 1 == 3"));
  }
}

}  // namespace
}  // namespace thalweg
