#pragma once

// For sources that call CUDA: where their work goes, and how its status becomes an error.
//
// All work on a device is put in one stream, by whichever thread: what is launched later sees what
// was launched before, and freed memory is reused in the same order. Nothing waits but copies to
// and from the host.

#include <cuda_runtime_api.h>

#include <thalweg/device/device.h>

#include "device/launch_graph.h"

namespace thalweg {

/// Throws for any status but success: Error{unavailable} where there is no memory or no device,
/// else Error{internal}, with the call's name and CUDA's text.
void check_cuda(cudaError_t status, const char* call, Device device);

/// Makes `device` the calling thread's current one. Its stream, or, while this thread captures a
/// graph, the stream that is captured.
cudaStream_t cuda_stream(Device device);

/// Puts what the calling thread launches into another stream, as long as it lives.
class CudaStreamScope {
 public:
  explicit CudaStreamScope(cudaStream_t stream);
  ~CudaStreamScope();
  CudaStreamScope(const CudaStreamScope&) = delete;
  CudaStreamScope& operator=(const CudaStreamScope&) = delete;
};

/// See capture_launches().
std::unique_ptr<LaunchGraph> cuda_capture(Device device, FunctionRef<void()> work);

}  // namespace thalweg
