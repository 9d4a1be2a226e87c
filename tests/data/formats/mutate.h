#pragma once

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/file.h>
#include <thalweg/base/philox.h>

#include "base/hex.h"

namespace thalweg::data {

/// One to three random changes: a bit, a byte, a cut, a byte less or more.
inline std::string mutated(std::string bytes, Philox& random) {
  for (uint32_t n = 1 + random.bounded(3); n > 0 && !bytes.empty(); --n) {
    const uint32_t at = random.bounded(static_cast<uint32_t>(bytes.size()));
    switch (random.bounded(5)) {
      case 0:
        bytes[at] ^= static_cast<char>(1u << random.bounded(8));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.bounded(256));
        break;
      case 2:
        bytes.resize(at + random.bounded(2));
        break;
      case 3:
        bytes.erase(at, 1);
        break;
      default:
        bytes.insert(at, 1, static_cast<char>(random.bounded(256)));
    }
  }
  return bytes;
}

/// The files of tests/fuzz/`parser`, which mutations start from, in the order of their names.
inline std::vector<std::string> fuzz_corpus(const std::string& parser) {
  std::set<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(THALWEG_TEST_FOLDER "/../fuzz/" + parser))
    paths.insert(entry.path());
  std::vector<std::string> files;
  for (const std::string& path : paths) files.push_back(read_file(path));
  return files;
}

/// The rounds of a fuzz test; THALWEG_FUZZ_ROUNDS asks for other than the suite has time for.
inline int64_t fuzz_rounds(int64_t in_suite) {
  const char* asked = std::getenv("THALWEG_FUZZ_ROUNDS");
  return asked == nullptr ? in_suite : std::atoll(asked);
}

/// Gives mutations of the files, which it must be able to read, to `read`: `rounds` of them or what
/// THALWEG_FUZZ_ROUNDS says; it may throw errors of kind io or invalid only. Returns how many of
/// them threw.
template <typename Read>
int64_t count_rejected_mutations(const std::vector<std::string>& files, int64_t rounds,
                                 uint64_t seed, Read read) {
  for (const std::string& file : files) EXPECT_NO_THROW(read(file)) << file;
  Philox random(seed);
  int64_t errors = 0;
  for (int64_t round = fuzz_rounds(rounds); round > 0; --round) {
    const auto file = random.bounded(static_cast<uint32_t>(files.size()));
    const std::string changed = mutated(files[file], random);
    try {
      read(changed);
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::io || error.kind() == ErrorKind::invalid)
          << error.what();
      ++errors;
    }
  }
  return errors;
}

}  // namespace thalweg::data
