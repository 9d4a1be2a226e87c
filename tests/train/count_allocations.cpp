#include "train/count_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<bool> g_counts{false};
std::atomic<int> g_allocations{0};
}  // namespace

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  if (g_counts) ++g_allocations;
  return std::malloc(bytes ? bytes : 1);
}
void* operator new(size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

int count_allocations(const std::function<void()>& f) {
  g_allocations = 0;
  g_counts = true;
  f();
  g_counts = false;
  return g_allocations;
}
