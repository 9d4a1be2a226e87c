// Comes before a kernel's source when the host's compiler compiles it: what CUDA has and C++ lacks.
// One thread after the other runs, each up to where it waits for the others of its block.

#include <cstring>
#include <type_traits>
#include <vector>

#include <ucontext.h>

#define __global__
#define __grid_constant__
#define __shared__ static

struct Place {
  unsigned x = 0, y = 0, z = 0;
};
inline Place threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

constexpr unsigned kThreads = 256;

struct Thread {
  ucontext_t context;
  std::vector<char> stack;
  bool done = false;
};
inline ucontext_t g_scheduler;
inline std::vector<Thread> g_threads(kThreads);
inline unsigned g_now = 0;
inline void (*g_body)() = nullptr;
inline const void* g_argument = nullptr;

/// Lets the others of the block come as far.
inline void wait() { swapcontext(&g_threads[g_now].context, &g_scheduler); }

inline void run_thread() {
  g_body();
  g_threads[g_now].done = true;
  wait();
}

inline void start(Thread& thread) {
  constexpr size_t kStack = 64 << 10;
  thread.stack.resize(kStack);
  thread.done = false;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.data();
  thread.context.uc_stack.ss_size = kStack;
  thread.context.uc_link = nullptr;
  makecontext(&thread.context, run_thread, 0);
}

inline void run_block() {
  for (Thread& thread : g_threads) start(thread);
  for (bool any = true; any;) {
    any = false;
    for (g_now = 0; g_now < kThreads; ++g_now) {
      if (g_threads[g_now].done) continue;
      any = true;
      threadIdx.x = g_now;
      swapcontext(&g_scheduler, &g_threads[g_now].context);
    }
  }
}

template <auto kKernel>
struct Call;
template <typename Argument, void (*kKernel)(Argument)>
struct Call<kKernel> {
  static constexpr size_t kBytes = sizeof(Argument);
  static void body() { kKernel(*static_cast<const std::remove_const_t<Argument>*>(g_argument)); }
};

template <auto kKernel>
void run(const void* argument, unsigned columns, unsigned rows) {
  g_body = Call<kKernel>::body;
  g_argument = argument;
  blockDim = {kThreads, 1, 1};
  gridDim = {columns, rows, 1};
  for (blockIdx.y = 0; blockIdx.y < rows; ++blockIdx.y) {
    for (blockIdx.x = 0; blockIdx.x < columns; ++blockIdx.x) run_block();
  }
}

}  // namespace emulated

inline void __syncthreads() { emulated::wait(); }

template <typename T>
T __shfl_xor_sync(unsigned, T value, int distance) {
  static char values[emulated::kThreads][sizeof(T)];
  std::memcpy(values[threadIdx.x], &value, sizeof value);
  emulated::wait();
  T other;
  std::memcpy(&other, values[threadIdx.x ^ static_cast<unsigned>(distance)], sizeof other);
  emulated::wait();
  return other;
}
