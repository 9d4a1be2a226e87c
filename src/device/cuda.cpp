// Memory and copies on CUDA devices. Blocks come from the driver's stream-ordered pool, which is
// told to keep what is freed: that is the cache.

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

/// The one place where CUDA's status becomes an error.
void check(cudaError_t status, const char* call, Device device) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // the error is told; later calls start afresh
  const ErrorKind kind = status == cudaErrorMemoryAllocation || status == cudaErrorNoDevice
                             ? ErrorKind::unavailable
                             : ErrorKind::internal;
  fail(kind, "{}: {} ({}) on {}", call, cudaGetErrorString(status), cudaGetErrorName(status),
       to_string(device));
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
  check(cudaDeviceGetDefaultMemPool(&pool, device.index), "cudaDeviceGetDefaultMemPool", device);
  return pool;
}

void keep_freed_blocks(Device device) {
  std::call_once(counters(device).pool_ready, [&] {
    uint64_t threshold = std::numeric_limits<uint64_t>::max();
    check(cudaMemPoolSetAttribute(pool_of(device), cudaMemPoolAttrReleaseThreshold, &threshold),
          "cudaMemPoolSetAttribute", device);
  });
}

void* allocate(Device device, size_t bytes) {
  if (bytes == 0) return nullptr;
  keep_freed_blocks(device);
  check(cudaSetDevice(device.index), "cudaSetDevice", device);
  void* data = nullptr;
  check(cudaMallocAsync(&data, bytes, cudaStreamPerThread), "cudaMallocAsync", device);
  Counters& c = counters(device);
  c.allocations.fetch_add(1, std::memory_order_relaxed);
  const size_t live = c.live.fetch_add(bytes) + bytes;
  size_t peak = c.peak.load();
  while (live > peak && !c.peak.compare_exchange_weak(peak, live)) {
  }
  return data;
}

void release(Device device, void* data, size_t bytes) noexcept {
  cudaFreeAsync(data, cudaStreamPerThread);
  counters(device).live.fetch_sub(bytes);
}

void copy(Device to, void* destination, Device from, const void* source, size_t bytes) {
  const Device device = to.kind == DeviceKind::cuda ? to : from;
  check(cudaSetDevice(device.index), "cudaSetDevice", device);
  check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, cudaStreamPerThread),
        "cudaMemcpyAsync", device);
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize", device);
}

MemoryStats stats(Device device) {
  const Counters& c = counters(device);
  uint64_t reserved = 0;
  check(cudaMemPoolGetAttribute(pool_of(device), cudaMemPoolAttrReservedMemCurrent, &reserved),
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
  check(cudaMemPoolTrimTo(pool_of(device), 0), "cudaMemPoolTrimTo", device);
}

}  // namespace

const DeviceBackend& cuda_backend() {
  static constexpr DeviceBackend backend = {count_devices, allocate,   release,       copy,
                                            stats,         reset_peak, release_cached};
  return backend;
}

}  // namespace thalweg
