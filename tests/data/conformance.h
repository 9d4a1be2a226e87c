#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace thalweg::data {

/// A file of another framework, "" where those are not at hand.
inline std::string conformance_file(const std::string& name) {
  const char* folder = std::getenv("THALWEG_CONFORMANCE_DATA");
  const std::string path = std::string(folder == nullptr ? "" : folder) + "/" + name;
  return std::filesystem::exists(path) ? path : "";
}

/// Skips the test where the files of a folder of THALWEG_CONFORMANCE_DATA are not at hand.
#define SKIP_WITHOUT(folder) \
  if (conformance_file(folder).empty()) GTEST_SKIP() << "no " << (folder) << " at hand"

}  // namespace thalweg::data
