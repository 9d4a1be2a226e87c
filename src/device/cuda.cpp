// Memory and copies on CUDA devices. Blocks come from the driver's stream-ordered pool, which is
// told to keep what is freed: that is the cache.

#include "device/cuda.h"

#include <atomic>
#include <limits>
#include <mutex>

#include <cuda_runtime_api.h>

#include "base/fail.h"
#include "device/backend.h"

namespace thalweg {
namespace {

constexpr int kMaxDevices = 64;

struct Counters {
  std::atomic<size_t> live{0};
  std::atomic<size_t> peak{0};
  std::atomic<uint64_t> allocations{0};
  std::once_flag pool_ready;
};

Counters& counters(Device device) {
  static Counters all[kMaxDevices];
  return all[device.index];
}

constinit thread_local cudaStream_t t_stream = nullptr;  // in place of the device's

cudaStream_t stream_of(Device device) {
  static std::once_flag made[kMaxDevices];
  static cudaStream_t streams[kMaxDevices];
  std::call_once(made[device.index], [&] {
    check_cuda(cudaStreamCreateWithFlags(&streams[device.index], cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags", device);
  });
  return streams[device.index];
}

int count_devices(const char** why_none) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    cudaGetLastError();
    *why_none = cudaGetErrorString(status);
    return 0;
  }
  if (count == 0) *why_none = "no CUDA device is present";
  return count < kMaxDevices ? count : kMaxDevices;
}

cudaMemPool_t pool_of(Device device) {
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, device.index), "cudaDeviceGetDefaultMemPool",
             device);
  return pool;
}

void keep_freed_blocks(Device device) {
  std::call_once(counters(device).pool_ready, [&] {
    uint64_t threshold = std::numeric_limits<uint64_t>::max();
    check_cuda(
        cudaMemPoolSetAttribute(pool_of(device), cudaMemPoolAttrReleaseThreshold, &threshold),
        "cudaMemPoolSetAttribute", device);
  });
}

void* allocate(Device device, size_t bytes) {
  if (bytes == 0) return nullptr;
  if (t_stream) {
    fail(ErrorKind::internal, "cuda: a kernel takes memory while a graph is captured on {}",
         to_string(device));
  }
  keep_freed_blocks(device);
  const cudaStream_t stream = cuda_stream(device);
  void* data = nullptr;
  check_cuda(cudaMallocAsync(&data, bytes, stream), "cudaMallocAsync", device);
  Counters& c = counters(device);
  c.allocations.fetch_add(1, std::memory_order_relaxed);
  const size_t live = c.live.fetch_add(bytes) + bytes;
  size_t peak = c.peak.load();
  while (live > peak && !c.peak.compare_exchange_weak(peak, live)) {
  }
  return data;
}

void release(Device device, void* data, size_t bytes) noexcept {
  // The stream is there: the block came from it. At the process's end CUDA may be gone already.
  cudaFreeAsync(data, stream_of(device));
  counters(device).live.fetch_sub(bytes);
}

void copy(Device to, void* destination, Device from, const void* source, size_t bytes) {
  const Device device = to.kind == DeviceKind::cuda ? to : from;
  const bool two_devices = from.kind == DeviceKind::cuda && from != device;
  if (two_devices)
    check_cuda(cudaStreamSynchronize(cuda_stream(from)), "cudaStreamSynchronize", from);
  const cudaStream_t stream = cuda_stream(device);
  check_cuda(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream),
             "cudaMemcpyAsync", device);
  if (to == from) return;  // in the order of the stream
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize", device);
}

void put(Device to, void* destination, const void* source, size_t bytes) {
  // Of memory that is not pinned a copy has been taken when the call returns.
  check_cuda(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyHostToDevice, cuda_stream(to)),
             "cudaMemcpyAsync", to);
}

MemoryStats stats(Device device) {
  const Counters& c = counters(device);
  uint64_t reserved = 0;
  check_cuda(cudaMemPoolGetAttribute(pool_of(device), cudaMemPoolAttrReservedMemCurrent, &reserved),
             "cudaMemPoolGetAttribute", device);
  MemoryStats s;
  s.live = c.live.load();
  s.peak_live = c.peak.load();
  s.cached = reserved > s.live ? reserved - s.live : 0;
  s.allocations = c.allocations.load();
  return s;
}

void reset_peak(Device device) { counters(device).peak.store(counters(device).live.load()); }

void release_cached(Device device) {
  check_cuda(cudaMemPoolTrimTo(pool_of(device), 0), "cudaMemPoolTrimTo", device);
}

}  // namespace

// The one place where CUDA's status becomes an error.
void check_cuda(cudaError_t status, const char* call, Device device) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // the error is told; later calls start afresh
  const ErrorKind kind = status == cudaErrorMemoryAllocation || status == cudaErrorNoDevice
                             ? ErrorKind::unavailable
                             : ErrorKind::internal;
  fail(kind, "{}: {} ({}) on {}", call, cudaGetErrorString(status), cudaGetErrorName(status),
       to_string(device));
}

cudaStream_t cuda_stream(Device device) {
  check_cuda(cudaSetDevice(device.index), "cudaSetDevice", device);
  return t_stream ? t_stream : stream_of(device);
}

CudaStreamScope::CudaStreamScope(cudaStream_t stream) { t_stream = stream; }
CudaStreamScope::~CudaStreamScope() { t_stream = nullptr; }

const DeviceBackend& cuda_backend() {
  static constexpr DeviceBackend backend = {
      count_devices, allocate, release, copy, stats, reset_peak, release_cached, cuda_capture, put};
  return backend;
}

}  // namespace thalweg
