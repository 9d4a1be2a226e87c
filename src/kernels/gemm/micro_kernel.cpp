#include "kernels/gemm/micro_kernel.h"

#include <cstddef>

#if THALWEG_WITH_LIBXSMM
#include <libxsmm.h>
#endif

namespace thalweg::gemm {
namespace {

#if THALWEG_WITH_LIBXSMM
// LIBXSMM's matrices are column-major: our row-major C = A B is its transpose, B first.
template <typename T>
CompiledKernel<T> compile(const MicroShape& s) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx")) return nullptr;  // see clear_upper_halves
#endif
  constexpr int kNoPrefetch = LIBXSMM_GEMM_PREFETCH_NONE;
  const int flags = s.a_transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const T alpha = 1, beta = s.adds ? 1 : 0;
  if constexpr (sizeof(T) == sizeof(float)) {
    return libxsmm_smmdispatch(s.n, s.m, s.k, &s.ldb, &s.lda, &s.ldc, &alpha, &beta, &flags,
                               &kNoPrefetch);
  } else {
    return libxsmm_dmmdispatch(s.n, s.m, s.k, &s.ldb, &s.lda, &s.ldc, &alpha, &beta, &flags,
                               &kNoPrefetch);
  }
}
#else
template <typename T>
CompiledKernel<T> compile(const MicroShape&) {
  return nullptr;
}
#endif

// LIBXSMM's own table takes 20 ns and more to ask.
template <typename T>
struct Cache {
  static constexpr size_t kSlots = 64;
  struct Slot {
    MicroShape shape;  // of all zeros: empty
    CompiledKernel<T> kernel;
  };
  Slot slots[kSlots];

  Slot& slot(const MicroShape& s) {
    uint64_t h = static_cast<uint32_t>(s.m) + (uint64_t{static_cast<uint32_t>(s.n)} << 32);
    h ^= static_cast<uint32_t>(s.k) * uint64_t{0x9E3779B97F4A7C15};
    h ^= static_cast<uint32_t>(s.lda + 3 * s.ldc + s.ldb * 5) + (uint64_t{s.a_transposed} << 40) +
         (uint64_t{s.adds} << 41);
    return slots[h * uint64_t{0xD6E8FEB86659FD93} >> 58];
  }
};

template <typename T>
constinit thread_local Cache<T> t_cache = {};

template <typename T>
CompiledKernel<T> find(const MicroShape& shape) {
  typename Cache<T>::Slot& slot = t_cache<T>.slot(shape);
  if (!(slot.shape == shape)) [[unlikely]]
    slot = {shape, compile<T>(shape)};
  return slot.kernel;
}

}  // namespace

template <typename T>
MicroKernel<T>::MicroKernel(const MicroShape& shape) : shape_(shape), compiled_(find<T>(shape)) {}

template <typename T>
void MicroKernel<T>::run_own(const T* a, const T* b, T* c) const {
  own_micro_kernel(shape_, a, b, c);
}

template class MicroKernel<float>;
template class MicroKernel<double>;

}  // namespace thalweg::gemm
