// The norm of all gradients.

#include <mutex>
#include <string>

#include <thalweg/device/memory.h>

#include "base/fail.h"
#include "kernels/cuda/device/walk.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"

namespace thalweg::cuda {
namespace {

constexpr int kMostDevices = 64;

// Partial sums of the norms of a device, which follow each other in its stream.
double* partial_sums(Device device) {
  static auto* const storages = new IntrusivePtr<Storage>[kMostDevices];  // CUDA ends before them
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  IntrusivePtr<Storage>& storage = storages[device.index];
  if (!storage) storage = Storage::allocate(device, NormArgs::kPartialSums * sizeof(double));
  return static_cast<double*>(storage->data());
}

std::string source_of(const std::string& call) { return kernel_source("norm", "NormArgs", call); }

cudaKernel_t squares_kernel(Device device, DType dtype) {
  static JitKernel kernels[kDTypes];
  return kernels[static_cast<int>(dtype)].get(
      device, [&] { return source_of(fmt::format("add_squares<{}>", element_type(dtype))); });
}

void run_norm(const KernelContext& ctx) {
  static JitKernel root;
  const Device device = ctx.out().meta.device;
  const cudaKernel_t finish = root.get(device, [] { return source_of("norm_root"); });
  NormArgs args = {};
  args.out = ctx.out().as<double>();
  bool is_first = true;
  for (size_t i = 0; i < ctx.inputs();) {
    const DType dtype = ctx.in(i).meta.dtype;
    const cudaKernel_t kernel = squares_kernel(device, dtype);
    if (is_first) args.partial_sums = partial_sums(device);
    args.tensors = 0;
    for (;
         i < ctx.inputs() && args.tensors < NormArgs::kMostTensors && ctx.in(i).meta.dtype == dtype;
         ++i) {
      args.data[args.tensors] = ctx.in(i).as<const char>();
      args.count[args.tensors++] = ctx.in(i).count;
    }
    args.starts = is_first;
    launch(device, kernel, NormArgs::kPartialSums, &args);
    is_first = false;
  }
  args.starts = is_first;  // nothing was summed
  launch(device, finish, 1, &args);
}

}  // namespace

void register_norm() {
  add_kernel("global_norm", DeviceKind::cuda, {"nvrtc", refuse_without_compiler, run_norm});
}

}  // namespace thalweg::cuda
