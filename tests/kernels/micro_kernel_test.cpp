#include "kernels/gemm/micro_kernel.h"

#include <vector>

#include <gtest/gtest.h>

namespace thalweg::gemm {
namespace {

// Small whole numbers: every sum is exact in any order.
template <typename T>
std::vector<T> whole_numbers(size_t count, int seed) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>((i * 7 + seed) % 11) - T(5);
  return values;
}

template <typename T>
std::vector<T> plain_product(const MicroShape& s, const std::vector<T>& a, const std::vector<T>& b,
                             std::vector<T> c) {
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      T sum = s.adds ? c[i * s.ldc + j] : T(0);
      for (int k = 0; k < s.k; ++k) {
        sum += a[s.a_transposed ? k * s.lda + i : i * s.lda + k] * b[k * s.ldb + j];
      }
      c[i * s.ldc + j] = sum;
    }
  }
  return c;
}

template <typename T>
void expect_exact_products() {
  for (const int m : {1, 3, 4, 6}) {
    for (const int n : {1, 2, 3, 7, 16, 31, 32, 45}) {
      for (const int k : {1, 9}) {
        for (const int form : {0, 1, 2, 3}) {
          const bool transposed = form & 1;
          const MicroShape s{m, n, k, (transposed ? m : k) + 2, n + 1, n + 3, transposed, form > 1};
          const auto a = whole_numbers<T>(100, 1), b = whole_numbers<T>(600, 2),
                     c = whole_numbers<T>(600, 3);
          const auto expected = plain_product(s, a, b, c);
          auto own = c, chosen = c;
          own_micro_kernel(s, a.data(), b.data(), own.data());
          MicroKernel<T> kernel(s);
          kernel(a.data(), b.data(), chosen.data());
          EXPECT_EQ(own, expected) << m << " x " << n << " x " << k << ", form " << form;
          EXPECT_EQ(chosen, expected) << m << " x " << n << " x " << k << ", form " << form;
        }
      }
    }
  }
}

TEST(MicroKernel, GivesExactProductsOfSmallWholeNumbers) {
  expect_exact_products<float>();
  expect_exact_products<double>();
}

}  // namespace
}  // namespace thalweg::gemm
