#include "kernels/cuda/launch.h"

#include <algorithm>
#include <mutex>

#include "device/cuda.h"
#include "kernels/cuda/nvrtc.h"

namespace thalweg::cuda {
namespace {

// The driver makes code for the device out of it, and keeps that on disk.
constexpr const char* kArchitecture = "compute_75";
constexpr int64_t kBlocksPerProcessor = 32;
constexpr int kMostDevices = 64;

int processors(Device device) {
  static std::atomic<int> known[kMostDevices];
  int count = known[device.index].load(std::memory_order_relaxed);
  if (count == 0) {
    check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device.index),
               "cudaDeviceGetAttribute", device);
    known[device.index].store(count, std::memory_order_relaxed);
  }
  return count;
}

}  // namespace

cudaKernel_t JitKernel::make(Device device, const std::string& source) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (const cudaKernel_t known = handle_.load(std::memory_order_acquire)) return known;
  const std::string code = compile(source, kArchitecture);
  check_cuda(cudaSetDevice(device.index), "cudaSetDevice", device);
  cudaLibrary_t library = nullptr;  // stays to the end of the process
  check_cuda(cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
             "cudaLibraryLoadData", device);
  cudaKernel_t kernel = nullptr;
  check_cuda(cudaLibraryGetKernel(&kernel, library, kKernelName), "cudaLibraryGetKernel", device);
  handle_.store(kernel, std::memory_order_release);
  return kernel;
}

void launch(Device device, cudaKernel_t kernel, dim3 blocks, const void* argument) {
  const cudaStream_t stream = cuda_stream(device);
  void* arguments[] = {const_cast<void*>(argument)};
  check_cuda(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), blocks, dim3(kThreads),
                              arguments, 0, stream),
             "cudaLaunchKernel", device);
}

unsigned blocks_for(Device device, int64_t count) {
  const int64_t wanted = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(std::min(wanted, processors(device) * kBlocksPerProcessor));
}

}  // namespace thalweg::cuda
