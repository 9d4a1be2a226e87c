#pragma once

// A shuffle that needs no array: position -> item, computed. Used to order samples and for
// randperm.

#include <cstdint>

#include <thalweg/base/host_device.h>
#include <thalweg/base/philox.h>

namespace thalweg {

/// A pseudo-random permutation of [0, n), chosen by `key`; n in 1 .. 2^62.
///
/// A Feistel network on the smallest power of two >= n, its round keys drawn from Philox; a value
/// that lands outside [0, n) is sent through again until it is inside (cycle walking, fewer than
/// two passes on average; Black and Rogaway 2002).
class Permutation {
 public:
  THALWEG_HOST_DEVICE constexpr Permutation(uint64_t n, uint64_t key) : n_(n) {
    int bits = kMinBits;
    while (bits < 62 && (uint64_t{1} << bits) < n) ++bits;
    low_bits_ = bits / 2;
    high_mask_ = static_cast<uint32_t>((uint64_t{1} << (bits - low_bits_)) - 1);
    low_mask_ = static_cast<uint32_t>((uint64_t{1} << low_bits_) - 1);
    for (int i = 0; i < kRounds; i += 4) {
      const PhiloxBlock block = philox(key, static_cast<uint64_t>(i / 4), kStream);
      for (int j = 0; j < 4; ++j) round_keys_[i + j] = block[j];
    }
  }

  THALWEG_HOST_DEVICE constexpr uint64_t size() const { return n_; }

  /// The item at `index` < size().
  THALWEG_HOST_DEVICE constexpr uint64_t operator()(uint64_t index) const {
    do {
      index = encrypt(index);
    } while (index >= n_);
    return index;
  }

 private:
  // With fewer bits the halves are too small for the rounds to mix: tiny sets walk longer instead.
  static constexpr int kMinBits = 5;
  static constexpr int kRounds = 8;
  static constexpr uint64_t kStream = 0xC000000000000000u;

  THALWEG_HOST_DEVICE static constexpr uint32_t mix(uint32_t x, uint32_t key) {
    const uint64_t p = uint64_t{0xD2511F53u} * (x ^ key);
    const uint64_t q =
        uint64_t{0xCD9E8D57u} * (static_cast<uint32_t>(p >> 32) ^ static_cast<uint32_t>(p));
    return static_cast<uint32_t>(q >> 32) ^ static_cast<uint32_t>(q);
  }

  THALWEG_HOST_DEVICE constexpr uint64_t encrypt(uint64_t value) const {
    uint32_t low = static_cast<uint32_t>(value) & low_mask_;
    uint32_t high = static_cast<uint32_t>(value >> low_bits_);
    for (int i = 0; i < kRounds; i += 2) {
      high ^= mix(low, round_keys_[i]) & high_mask_;
      low ^= mix(high, round_keys_[i + 1]) & low_mask_;
    }
    return uint64_t{high} << low_bits_ | low;
  }

  uint64_t n_;
  int low_bits_ = 0;
  uint32_t low_mask_ = 0;
  uint32_t high_mask_ = 0;
  uint32_t round_keys_[kRounds] = {};
};

/// Where Permutation(n, key) sends `index`; for more than one index, keep the Permutation.
THALWEG_HOST_DEVICE constexpr uint64_t permute(uint64_t index, uint64_t n, uint64_t key) {
  return Permutation(n, key)(index);
}

}  // namespace thalweg
