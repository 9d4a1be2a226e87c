// Philox blocks side by side: each lane is a block of its own.

// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/dropout_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/convert-inl.h"
// clang-format on

#include <algorithm>

#include <thalweg/tensor/dtype.h>

#include "kernels/simd/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

using Words = hn::ScalableTag<uint32_t>;
using WordVector = hn::Vec<Words>;

// The upper halves of the 64-bit products.
HWY_INLINE WordVector multiply_high(WordVector a, WordVector b) {
  const Words d;
  const hn::RepartitionToWide<Words> d64;
  const auto odd_of = [&](WordVector v) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, v)));
  };
  const auto even = hn::BitCast(d, hn::ShiftRight<32>(hn::MulEven(a, b)));
  const auto odd = hn::BitCast(d, hn::MulEven(odd_of(a), odd_of(b)));
  return hn::OddEven(odd, even);
}

// Writes the words of blocks [first, first + lanes): those of a block lie together.
HWY_INLINE void write_blocks(uint64_t seed, uint64_t first, uint32_t* words) {
  const Words d;
  const WordVector m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u);
  const uint32_t low = static_cast<uint32_t>(first);
  WordVector c0 = hn::Iota(d, low);
  // Lanes that wrapped around have the next upper half.
  const auto wrapped = hn::VecFromMask(d, hn::Lt(c0, hn::Set(d, low)));
  WordVector c1 = hn::Sub(hn::Set(d, static_cast<uint32_t>(first >> 32)), wrapped);
  WordVector c2 = hn::Zero(d), c3 = hn::Zero(d);
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const WordVector high0 = multiply_high(m0, c0), low0 = hn::Mul(m0, c0);
    const WordVector high1 = multiply_high(m1, c2), low1 = hn::Mul(m1, c2);
    c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
    c1 = low1;
    c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  hn::StoreInterleaved4(c0, c1, c2, c3, d, words);
}

template <typename T>
void dropout_row(const simd::DropoutRow& row) {
  const Words d;
  const hn::ScalableTag<float> df;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* in = static_cast<const T*>(row.in);
  T* out = static_cast<T*>(row.out);
  const Simd<float> scale(row.scale);
  const WordVector dropped = hn::Set(d, row.dropped);
  HWY_ALIGN uint32_t words[4 * hn::MaxLanes(d)];
  const auto result = [&](Simd<float> x, const uint32_t* word) HWY_ATTR {
    const auto drop = hn::RebindMask(df, hn::Lt(hn::Load(d, word), dropped));
    return Simd<float>(hn::IfThenZeroElse(drop, (x * scale).v));
  };
  for (int64_t i = 0; i < row.n; i += 4 * lanes) {
    write_blocks(row.seed, row.block + static_cast<uint64_t>(i / 4), words);
    const int64_t end = std::min(row.n, i + 4 * lanes);
    for (int64_t k = i; k < end; k += lanes) {
      const uint32_t* word = words + (k - i);
      if (end - k >= lanes) {
        Memory<T>::store(result(Memory<T>::load(in + k), word), out + k);
      } else {
        const size_t n = static_cast<size_t>(end - k);
        Memory<T>::store_first(result(Memory<T>::load_first(in + k, n), word), out + k, n);
      }
    }
  }
}

void fill_rows(simd::DropoutTable& table) {
  table.rows[static_cast<int>(DType::f32)] = dropout_row<float>;
  table.rows[static_cast<int>(DType::f64)] = nullptr;
  table.rows[static_cast<int>(DType::f16)] = dropout_row<Float16>;
  table.rows[static_cast<int>(DType::bf16)] = dropout_row<BFloat16>;
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill_rows);

void simd::fill_dropout(DropoutTable& table) { HWY_DYNAMIC_DISPATCH(fill_rows)(table); }
}  // namespace thalweg
#endif
