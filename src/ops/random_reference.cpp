// The kernels of random rows: loops over Philox blocks.

#include <thalweg/base/permutation.h>
#include <thalweg/base/philox.h>
#include <thalweg/base/threads.h>

#include "ops/random.h"
#include "ops/reference.h"
#include "tensor/copy.h"

namespace thalweg {
namespace {

constexpr double kBlockNs = 12;
constexpr int64_t kTileBlocks = 4096;

// Calls f(first element, block) for blocks of `per_block` elements of `count`, in parallel.
template <typename F>
void for_each_block(uint64_t seed, uint64_t offset, int64_t count, int64_t per_block, F&& f) {
  const int64_t blocks = (count + per_block - 1) / per_block;
  parallel_ranges(blocks, kTileBlocks, kBlockNs, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      f(b * per_block, philox(seed, offset + static_cast<uint64_t>(b)));
    }
  });
}

uint64_t word64(const PhiloxBlock& block, int64_t i) {
  return uint64_t{block[static_cast<int>(2 * i + 1)]} << 32 | block[static_cast<int>(2 * i)];
}

// Elements of T, each made by make(word), where a word has as many bits as T needs.
template <typename T, typename Make>
void fill_by_word(const KernelContext& ctx, const RandomAttrs& a, Make&& make) {
  T* out = ctx.out().as<T>();
  const int64_t count = ctx.out().meta.size();
  for_each_block(a.seed, a.offset, count, 4, [&](int64_t first, const PhiloxBlock& block) {
    const int64_t n = std::min<int64_t>(4, count - first);
    for (int64_t i = 0; i < n; ++i) out[first + i] = make(block[static_cast<int>(i)]);
  });
}

template <typename T, typename Make>
void fill_by_word64(const KernelContext& ctx, uint64_t seed, uint64_t offset, Make&& make) {
  T* out = ctx.out().as<T>();
  const int64_t count = ctx.out().meta.size();
  for_each_block(seed, offset, count, 2, [&](int64_t first, const PhiloxBlock& block) {
    const int64_t n = std::min<int64_t>(2, count - first);
    for (int64_t i = 0; i < n; ++i) out[first + i] = make(word64(block, i));
  });
}

// Rounding may reach the upper end, which is not in the range.
template <typename T>
T below(double value, double low, double high) {
  const T rounded = static_cast<T>(static_cast<ComputeType<T>>(value));
  return as_double(rounded) < high ? rounded : static_cast<T>(static_cast<ComputeType<T>>(low));
}

template <typename T>
void fill_uniform(const KernelContext& ctx) {
  const RandomAttrs& a = ctx.attrs<RandomAttrs>();
  const double range = a.b - a.a;
  if constexpr (std::is_same_v<T, double>) {
    fill_by_word64<T>(ctx, a.seed, a.offset, [&](uint64_t word) {
      return below<T>(a.a + range * uniform_double(word), a.a, a.b);
    });
  } else {
    fill_by_word<T>(ctx, a, [&](uint32_t word) {
      return below<T>(a.a + range * static_cast<double>(uniform_float(word)), a.a, a.b);
    });
  }
}

template <typename T>
void fill_normal(const KernelContext& ctx) {
  using C = ComputeType<T>;
  const RandomAttrs& a = ctx.attrs<RandomAttrs>();
  const C mean = static_cast<C>(a.a), deviation = static_cast<C>(a.b);
  T* out = ctx.out().as<T>();
  const int64_t count = ctx.out().meta.size();
  constexpr int64_t per_block = std::is_same_v<T, double> ? 2 : 4;
  for_each_block(a.seed, a.offset, count, per_block, [&](int64_t first, const PhiloxBlock& block) {
    C values[per_block];
    if constexpr (std::is_same_v<T, double>) {
      const NormalPair<double> pair = normal_pair(word64(block, 0), word64(block, 1));
      values[0] = pair.first, values[1] = pair.second;
    } else {
      const NormalPair<float> low = normal_pair(block[0], block[1]);
      const NormalPair<float> high = normal_pair(block[2], block[3]);
      values[0] = low.first, values[1] = low.second;
      values[2] = high.first, values[3] = high.second;
    }
    const int64_t n = std::min(per_block, count - first);
    for (int64_t i = 0; i < n; ++i) out[first + i] = static_cast<T>(mean + deviation * values[i]);
  });
}

template <typename F>
void visit_integer(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto zero) {
    if constexpr (std::is_integral_v<decltype(zero)> && !std::is_same_v<decltype(zero), bool>)
      f(zero);
  });
}

template <typename T>
void drop(const KernelContext& ctx) {
  using C = ComputeType<T>;
  const DropoutAttrs& a = ctx.attrs<DropoutAttrs>();
  const uint64_t dropped = probability_threshold(a.probability);
  const C scale = a.probability < 1 ? static_cast<C>(1 / (1 - a.probability)) : C(0);
  const T* in = ctx.in(0).as<T>();
  T* out = ctx.out().as<T>();
  const auto result = [&](uint32_t word, T x) {
    return word < dropped ? static_cast<T>(C(0)) : static_cast<T>(static_cast<C>(x) * scale);
  };
  const TensorMeta &from = ctx.in(0).meta, &to = ctx.out().meta;
  if (from.is_contiguous() && to.is_contiguous()) {
    const int64_t count = to.size();
    for_each_block(a.seed, a.offset, count, 4, [&](int64_t first, const PhiloxBlock& block) {
      const int64_t n = std::min<int64_t>(4, count - first);
      for (int64_t i = 0; i < n; ++i) {
        out[first + i] = result(block[static_cast<int>(i)], in[first + i]);
      }
    });
    return;
  }
  // The same numbers for the same elements, whatever their strides.
  int64_t element = 0;
  PhiloxBlock block{};
  for_each_row(to, from, [&](int64_t o, int64_t i, int64_t n, int64_t so, int64_t si) {
    for (int64_t k = 0; k < n; ++k, ++element) {
      const int word = static_cast<int>(element % 4);
      if (word == 0) block = philox(a.seed, a.offset + static_cast<uint64_t>(element / 4));
      out[o + k * so] = result(block[word], in[i + k * si]);
    }
  });
}

}  // namespace

void reference_random_uniform(const KernelContext& ctx) {
  visit_floating(ctx.out().meta.dtype, [&](auto zero) { fill_uniform<decltype(zero)>(ctx); });
}

void reference_random_normal(const KernelContext& ctx) {
  visit_floating(ctx.out().meta.dtype, [&](auto zero) { fill_normal<decltype(zero)>(ctx); });
}

void reference_random_bernoulli(const KernelContext& ctx) {
  const RandomAttrs& a = ctx.attrs<RandomAttrs>();
  const uint64_t success = probability_threshold(a.a);
  visit_dtype(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = ComputeType<T>;
    fill_by_word<T>(ctx, a, [&](uint32_t word) { return static_cast<T>(C(word < success)); });
  });
}

void reference_random_integers(const KernelContext& ctx) {
  const RandomIntegerAttrs& a = ctx.attrs<RandomIntegerAttrs>();
  const uint64_t range = static_cast<uint64_t>(a.high) - static_cast<uint64_t>(a.low);
  visit_integer(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    fill_by_word64<T>(ctx, a.seed, a.offset, [&](uint64_t word) {
      __extension__ typedef unsigned __int128 Wide;
      const uint64_t drawn = static_cast<uint64_t>(Wide{word} * range >> 64);
      return static_cast<T>(static_cast<uint64_t>(a.low) + drawn);
    });
  });
}

void reference_random_permutation(const KernelContext& ctx) {
  const RandomIntegerAttrs& a = ctx.attrs<RandomIntegerAttrs>();
  const int64_t count = ctx.out().meta.size();
  if (count == 0) return;
  const Permutation order(static_cast<uint64_t>(count), derive_seed(a.seed, a.offset));
  visit_integer(ctx.out().meta.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = ctx.out().as<T>();
    parallel_ranges(count, kTileBlocks, 4 * kBlockNs, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = static_cast<T>(order(static_cast<uint64_t>(i)));
      }
    });
  });
}

void reference_dropout(const KernelContext& ctx) {
  visit_floating(ctx.out().meta.dtype, [&](auto zero) { drop<decltype(zero)>(ctx); });
}

}  // namespace thalweg
