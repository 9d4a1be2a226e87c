#pragma once

#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>

namespace thalweg {

/// The text of the Error of this kind that `action` throws; a failed test and "" if it throws none.
template <typename Action>
std::string error_text(ErrorKind kind, Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace thalweg
