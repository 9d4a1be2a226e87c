#pragma once

#include <string>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/base/philox.h>

namespace thalweg::data {

inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  std::string digits;
  for (char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return bytes;
}

/// One to three random changes: a bit, a byte, a cut, a byte more.
inline std::string mutated(std::string bytes, Philox& random) {
  for (uint32_t n = 1 + random.bounded(3); n > 0 && !bytes.empty(); --n) {
    const uint32_t at = random.bounded(static_cast<uint32_t>(bytes.size()));
    switch (random.bounded(4)) {
      case 0:
        bytes[at] ^= static_cast<char>(1u << random.bounded(8));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.bounded(256));
        break;
      case 2:
        bytes.resize(at + random.bounded(2));
        break;
      default:
        bytes.insert(at, 1, static_cast<char>(random.bounded(256)));
    }
  }
  return bytes;
}

/// Gives `rounds` mutations of `bytes` to `read`, which may throw errors of kind io or invalid
/// only. Returns how many of them threw.
template <typename Read>
int count_rejected_mutations(const std::string& bytes, int rounds, uint64_t seed, Read read) {
  Philox random(seed);
  int errors = 0;
  for (int round = 0; round < rounds; ++round) {
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
