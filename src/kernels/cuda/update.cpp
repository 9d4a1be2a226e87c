// The rules that change weights: all tensors of a net in a few launches.

#include <algorithm>
#include <cstring>
#include <string>

#include "base/fail.h"
#include "device/launch_graph.h"
#include "kernels/cuda/device/walk.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"
#include "ops/optimizer.h"

namespace thalweg::cuda {
namespace {

// The numbers of the update on the device. A replay puts them there itself.
class DeviceNumbers {
 public:
  DeviceNumbers(const TensorImpl& numbers, Device device) : data_(numbers.as<const char>()) {
    if (numbers.meta.device == device || numbers.count == 0) return;
    const size_t bytes = static_cast<size_t>(numbers.count) * sizeof(double);
    storage_ = Storage::allocate(device, bytes);
    put_bytes(device, storage_->data(), numbers.data, bytes);
    data_ = static_cast<const char*>(storage_->data());
  }
  const char* data() const { return data_; }

 private:
  const char* data_;
  IntrusivePtr<Storage> storage_;  // freed in the order of the stream
};

template <typename Attrs, typename Numbers>
UpdateTensor tensor_of(const UpdateArguments<Attrs, Numbers>& args, size_t i,
                       std::span<const int> states) {
  UpdateTensor t = {};
  t.count = args.weight(i).count;
  t.weight = args.weight(i).template as<const char>();
  t.gradient = args.gradient(i).template as<const char>();
  t.new_weight = args.new_weight(i).template as<char>();
  for (size_t s = 0; s < states.size(); ++s) {
    t.state[states[s]] = args.state(s, i).template as<const char>();
    t.new_state[states[s]] = args.new_state(s, i).template as<char>();
  }
  return t;
}

// `states` are the places, in a rule's list of all states, of those that there are.
template <typename Attrs, typename Numbers>
void run_rule(const KernelContext& ctx, const char* rule, JitKernel (&kernels)[kDTypes],
              std::span<const int> states) {
  const UpdateArguments<Attrs, Numbers> args(ctx);
  if (args.tensors() == 0) return;
  const Device device = args.weight(0).meta.device;
  const DeviceNumbers numbers(ctx.in(0), device);
  for (size_t first = 0; first < args.tensors();) {
    const DType dtype = args.weight(first).meta.dtype;
    UpdateArgs part = {};
    part.numbers = numbers.data() + first * sizeof(Numbers);
    int64_t most = 0;
    while (first < args.tensors() && part.tensors < UpdateArgs::kMostTensors &&
           args.weight(first).meta.dtype == dtype) {
      part.tensor[part.tensors++] = tensor_of(args, first, states);
      most = std::max(most, args.weight(first++).count);
    }
    if (most == 0) continue;
    const cudaKernel_t kernel = kernels[static_cast<int>(dtype)].get(device, [&] {
      return kernel_source("update", "UpdateArgs",
                           fmt::format("update_kernel<{}, {}>", rule, element_type(dtype)));
    });
    launch(device, kernel, dim3(blocks_for(device, most), static_cast<unsigned>(part.tensors)),
           &part);
  }
}

void run_sgd(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  const int states[] = {0};
  const size_t present = ctx.attrs<SgdAttrs>().momentum ? 1 : 0;
  run_rule<SgdAttrs, SgdNumbers>(ctx, "Sgd", kernels, std::span(states).first(present));
}

void run_adam(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  const int states[] = {0, 1};
  run_rule<AdamAttrs, AdamNumbers>(ctx, "Adam", kernels, states);
}

void run_rmsprop(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  const RmsPropAttrs& attrs = ctx.attrs<RmsPropAttrs>();
  int states[3] = {0};
  size_t present = 1;
  if (attrs.centered) states[present++] = 1;
  if (attrs.momentum) states[present++] = 2;
  run_rule<RmsPropAttrs, RmsPropNumbers>(ctx, "RmsProp", kernels, std::span(states).first(present));
}

void run_adagrad(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  const int states[] = {0};
  run_rule<AdaGradAttrs, AdaGradNumbers>(ctx, "AdaGrad", kernels, states);
}

}  // namespace

void register_updates() {
  const auto add = [](const char* name, void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cuda, {"nvrtc", refuse_without_compiler, run});
  };
  add("sgd_update", run_sgd);
  add("adam_update", run_adam);
  add("rmsprop_update", run_rmsprop);
  add("adagrad_update", run_adagrad);
}

}  // namespace thalweg::cuda
