// Launches captured as a CUDA graph.

#include "device/backend.h"
#include "device/cuda.h"

namespace thalweg {
namespace {

/// Captures what the calling thread launches as long as it lives.
class Capture {
 public:
  explicit Capture(Device device) : device_(device) {
    cuda_stream(device);  // makes it the current device
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags", device);
    const cudaError_t status = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal);
    if (status != cudaSuccess) cudaStreamDestroy(stream_);
    check_cuda(status, "cudaStreamBeginCapture", device);
    capturing_ = true;
  }
  ~Capture() {
    if (graph_) cudaGraphDestroy(graph_);
    if (capturing_ && cudaStreamEndCapture(stream_, &graph_) == cudaSuccess && graph_)
      cudaGraphDestroy(graph_);
    cudaStreamDestroy(stream_);
    cudaGetLastError();  // what failed is told by another
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  cudaStream_t stream() const { return stream_; }

  cudaGraphExec_t finish() {
    capturing_ = false;
    check_cuda(cudaStreamEndCapture(stream_, &graph_), "cudaStreamEndCapture", device_);
    cudaGraphExec_t executable = nullptr;
    check_cuda(cudaGraphInstantiate(&executable, graph_, 0), "cudaGraphInstantiate", device_);
    return executable;
  }

 private:
  Device device_;
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  bool capturing_ = false;
};

class CudaLaunchGraph final : public LaunchGraph {
 public:
  CudaLaunchGraph(Device device, cudaGraphExec_t executable)
      : device_(device), executable_(executable) {}
  ~CudaLaunchGraph() override {
    cudaSetDevice(device_.index);
    cudaDeviceSynchronize();  // it may be running
    cudaGraphExecDestroy(executable_);
  }
  CudaLaunchGraph(const CudaLaunchGraph&) = delete;
  CudaLaunchGraph& operator=(const CudaLaunchGraph&) = delete;

  void launch() override {
    check_cuda(cudaGraphLaunch(executable_, cuda_stream(device_)), "cudaGraphLaunch", device_);
  }

 private:
  Device device_;
  cudaGraphExec_t executable_;
};

}  // namespace

std::unique_ptr<LaunchGraph> cuda_capture(Device device, FunctionRef<void()> work) {
  Capture capture(device);
  {
    const CudaStreamScope scope(capture.stream());
    work();
  }
  return std::make_unique<CudaLaunchGraph>(device, capture.finish());
}

}  // namespace thalweg
