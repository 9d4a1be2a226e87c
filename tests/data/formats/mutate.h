#pragma once

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
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

/// The rounds of a fuzz test; THALWEG_FUZZ_ROUNDS asks for other than the suite has time for.
inline int64_t fuzz_rounds(int64_t in_suite) {
  const char* asked = std::getenv("THALWEG_FUZZ_ROUNDS");
  return asked == nullptr ? in_suite : std::atoll(asked);
}

/// Gives mutations of `bytes` to `read`, `rounds` of them or what THALWEG_FUZZ_ROUNDS says; it may
/// throw errors of kind io or invalid only. Returns how many of them threw.
template <typename Read>
int64_t count_rejected_mutations(const std::string& bytes, int64_t rounds, uint64_t seed,
                                 Read read) {
  Philox random(seed);
  int64_t errors = 0;
  for (int64_t round = fuzz_rounds(rounds); round > 0; --round) {
    const std::string changed = mutated(bytes, random);
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
