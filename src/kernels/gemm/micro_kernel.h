#pragma once

// The innermost product of a tile: compiled for its shape by LIBXSMM, else our own SIMD loop.

#include <cstdint>

namespace thalweg::gemm {

/// C [m, n] = A [m, k] B [k, n], or C += A B. All are row-major with the given row strides, A
/// column-major if a_transposed.
struct MicroShape {
  int32_t m, n, k;
  int32_t lda, ldb, ldc;
  bool a_transposed;
  bool adds;

  bool operator==(const MicroShape&) const = default;
};

template <typename T>
using CompiledKernel = void (*)(const T* b, const T* a, T* c, ...);

template <typename T>
class MicroKernel {
 public:
  /// Looks the shape up in a cache of the thread: a few ns when it was used lately.
  explicit MicroKernel(const MicroShape& shape);
  void operator()(const T* a, const T* b, T* c) const {
    if (compiled_) [[likely]] {
      compiled_(b, a, c);
      clear_upper_halves();
    } else {
      run_own(a, b, c);
    }
  }

 private:
  // Compiled code leaves the upper halves of the vector registers dirty, which makes SSE code after
  // it, such as ours, many times slower.
  static void clear_upper_halves() {
#if defined(__x86_64__)
    __asm__ volatile("vzeroupper");
#endif
  }
  void run_own(const T* a, const T* b, T* c) const;

  MicroShape shape_;
  CompiledKernel<T> compiled_;
};

/// Our own loop, for any shape.
void own_micro_kernel(const MicroShape& shape, const float* a, const float* b, float* c);
void own_micro_kernel(const MicroShape& shape, const double* a, const double* b, double* c);

}  // namespace thalweg::gemm
