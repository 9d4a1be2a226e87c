#pragma once

// Random bits as a function of (key, counter), without hidden state: element i of a tensor draws
// from block offset + i / 4, so any thread, tile or device gives the same numbers.

#include <cmath>
#include <cstdint>
#include <limits>

#include <thalweg/base/host_device.h>

namespace thalweg {

/// Four words: the counter of a Philox block, or the random bits it yields.
struct PhiloxBlock {
  uint32_t words[4];

  THALWEG_HOST_DEVICE constexpr uint32_t operator[](int i) const { return words[i]; }
  friend constexpr bool operator==(const PhiloxBlock&, const PhiloxBlock&) = default;
};

struct PhiloxKey {
  uint32_t words[2];
};

namespace detail {
THALWEG_HOST_DEVICE constexpr PhiloxBlock philox_round(PhiloxBlock c, PhiloxKey k) {
  const uint64_t p0 = uint64_t{0xD2511F53u} * c.words[0];
  const uint64_t p1 = uint64_t{0xCD9E8D57u} * c.words[2];
  return {{static_cast<uint32_t>(p1 >> 32) ^ c.words[1] ^ k.words[0], static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c.words[3] ^ k.words[1], static_cast<uint32_t>(p0)}};
}
}  // namespace detail

/// Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11.
THALWEG_HOST_DEVICE constexpr PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key.words[0] += 0x9E3779B9u;
      key.words[1] += 0xBB67AE85u;
    }
    counter = detail::philox_round(counter, key);
  }
  return counter;
}

/// Block `index` of the sequence that `seed` and `stream` name. Streams of one seed are independent
/// of each other; draws into tensors use stream 0.
THALWEG_HOST_DEVICE constexpr PhiloxBlock philox(uint64_t seed, uint64_t index,
                                                 uint64_t stream = 0) {
  return philox4x32({{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                      static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)}},
                    {{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}});
}

/// A seed for a purpose of its own: number `index` of stream `stream`, e.g. one per sweep or layer.
/// The stream's top bit is set, so that no tensor's draw sees the same block.
THALWEG_HOST_DEVICE constexpr uint64_t derive_seed(uint64_t seed, uint64_t index,
                                                   uint64_t stream = 0) {
  const PhiloxBlock block = philox(seed, index, stream | uint64_t{1} << 63);
  return uint64_t{block[1]} << 32 | block[0];
}

/// Uniform in [0, 1): the multiples of 2^-24.
THALWEG_HOST_DEVICE constexpr float uniform_float(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24f;
}

/// Uniform in [0, 1): the multiples of 2^-53.
THALWEG_HOST_DEVICE constexpr double uniform_double(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// An integer in [0, n) from 32 random bits, n >= 1. Values differ in probability by at most 2^-32;
/// where that matters, Philox::bounded has no bias.
THALWEG_HOST_DEVICE constexpr uint32_t bounded(uint32_t bits, uint32_t n) {
  return static_cast<uint32_t>(uint64_t{bits} * n >> 32);
}

template <typename T>
struct NormalPair {
  T first;
  T second;
};

/// Two independent standard normal values, |x| < 6.8 (Box and Muller 1958).
THALWEG_HOST_DEVICE inline NormalPair<float> normal_pair(uint32_t a, uint32_t b) {
  const float u = static_cast<float>(a) * 0x1p-32f + 0x1p-33f;  // in (0, 1]
  const float radius = std::sqrt(-2.0f * std::log(u));
  const float angle = static_cast<float>(b) * (0x1p-32f * 6.28318530717958647692f);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Two independent standard normal values, |x| < 8.7 (Box and Muller 1958).
THALWEG_HOST_DEVICE inline NormalPair<double> normal_pair(uint64_t a, uint64_t b) {
  const double u = 1.0 - uniform_double(a);  // in (0, 1]
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = uniform_double(b) * 6.28318530717958647692;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Draws one after the other, for code that is sequential by nature. Fits <random> and std::shuffle
/// too, but their results differ between standard libraries; the members' do not.
class Philox {
 public:
  using result_type = uint32_t;

  explicit constexpr Philox(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return std::numeric_limits<uint32_t>::max(); }
  constexpr uint32_t operator()() { return next(); }

  constexpr uint32_t next() {
    if (used_ == 4) {
      block_ = philox(seed_, index_++, stream_);
      used_ = 0;
    }
    return block_[used_++];
  }

  constexpr uint64_t next64() {
    const uint64_t low = next();
    return uint64_t{next()} << 32 | low;
  }

  /// In [0, 1).
  constexpr float uniform() { return uniform_float(next()); }
  constexpr double uniform64() { return uniform_double(next64()); }

  float normal() {
    const uint32_t a = next();
    return normal_pair(a, next()).first;
  }

  /// An integer in [0, n), n >= 1, every value equally likely (Lemire 2019).
  constexpr uint32_t bounded(uint32_t n) {
    uint64_t product = uint64_t{next()} * n;
    if (static_cast<uint32_t>(product) < n) {
      const uint32_t threshold = (0u - n) % n;
      while (static_cast<uint32_t>(product) < threshold) product = uint64_t{next()} * n;
    }
    return static_cast<uint32_t>(product >> 32);
  }

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t index_ = 0;
  PhiloxBlock block_{};
  int used_ = 4;
};

}  // namespace thalweg
