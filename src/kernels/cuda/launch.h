#pragma once

// Kernels that are compiled at their first launch.

#include <atomic>
#include <string>

#include <cuda_runtime_api.h>

#include <thalweg/device/device.h>

namespace thalweg::cuda {

/// One kernel of one source; made at run time for whatever device there is.
class JitKernel {
 public:
  /// The kernel kKernelName of the source that `text()` gives, which is asked for it once.
  template <typename Text>
  cudaKernel_t get(Device device, Text&& text) {
    const cudaKernel_t known = handle_.load(std::memory_order_acquire);
    return known ? known : make(device, text());
  }

 private:
  cudaKernel_t make(Device device, const std::string& source);

  std::atomic<cudaKernel_t> handle_{nullptr};
};

inline constexpr unsigned kThreads = 256;  // of a block

/// Puts a kernel into the device's stream: `blocks` of kThreads threads, and one argument.
void launch(Device device, cudaKernel_t kernel, dim3 blocks, const void* argument);

/// Blocks for a loop over `count` items, more than 0, that strides over the grid: one thread each,
/// but no more than the device holds a few times over.
unsigned blocks_for(Device device, int64_t count);

}  // namespace thalweg::cuda
