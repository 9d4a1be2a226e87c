// softmax, log_softmax and the cross entropy, with their gradients.

#include "ops/softmax.h"

#include <string>

#include "base/fail.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/walks.h"
#include "ops/reference.h"

namespace thalweg::cuda {
namespace {

/// Gathers the operands of a kernel over lanes along one axis.
class Lanes {
 public:
  /// `whole` is an operand that has all axes.
  Lanes(const TensorMeta& whole, size_t axis) : shape_(whole.shape), axis_(axis) {
    args_.n = shape_[axis];
  }

  /// A tensor of all axes.
  void add(const TensorImpl& tensor) {
    for (size_t d = 0; d < shape_.size(); ++d) strides_[d][operands_] = byte_stride(tensor.meta, d);
    args_.data[operands_] = static_cast<char*>(tensor.data);
    args_.steps[operands_] = strides_[axis_][operands_];
    ++operands_;
  }
  /// A tensor of all axes but the one of the lanes.
  void add_without_axis(const TensorImpl& tensor) {
    for (size_t d = 0; d + 1 < shape_.size(); ++d)
      strides_[d < axis_ ? d : d + 1][operands_] = byte_stride(tensor.meta, d);
    args_.data[operands_++] = static_cast<char*>(tensor.data);
  }
  /// A vector with an element for each place along the axis.
  void add_vector(const TensorImpl* vector) {
    if (vector) {
      args_.data[operands_] = static_cast<char*>(vector->data);
      args_.steps[operands_] = byte_stride(vector->meta, 0);
    }
    ++operands_;
  }

  LaneArgs& finish() {
    WalkMaker<LaneArgs::kMostOperands> lanes;
    for (size_t d = shape_.size(); d-- > 0;) {
      if (d != axis_) lanes.add(shape_[d], strides_[d]);
    }
    args_.lanes = lanes.finish();
    return args_;
  }

 private:
  LaneArgs args_ = {};
  Shape shape_;
  size_t axis_;
  int operands_ = 0;
  int64_t strides_[kMaxDims][LaneArgs::kMostOperands] = {};
};

/// `call()` is the function of device/softmax.cuh with its template arguments.
template <typename Call>
void run_lanes(const KernelContext& ctx, JitKernel& kernel, const LaneArgs& args, Call&& call) {
  if (args.lanes.count == 0) return;
  const Device device = ctx.out().meta.device;
  const cudaKernel_t handle =
      kernel.get(device, [&] { return kernel_source("softmax", "LaneArgs", call()); });
  launch(device, handle, blocks_for(device, args.lanes.count * 32), &args);
}

size_t axis_along(const KernelContext& ctx, int64_t axis, const TensorImpl& x) {
  return axis_of(ctx, axis, x.meta.shape.size());
}

int index_of(DType dtype) { return static_cast<int>(dtype); }

template <bool kLog>
void run_softmax(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  const DType dtype = ctx.in(0).meta.dtype;
  Lanes lanes(ctx.in(0).meta, axis_along(ctx, ctx.attrs<SoftmaxAttrs>().axis, ctx.in(0)));
  lanes.add(ctx.out());
  lanes.add(ctx.in(0));
  run_lanes(ctx, kernels[index_of(dtype)], lanes.finish(),
            [&] { return fmt::format("softmax_lanes<{}, {}>", element_type(dtype), kLog); });
}

template <bool kLog>
void run_softmax_vjp(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes];
  const DType dtype = ctx.in(1).meta.dtype;
  Lanes lanes(ctx.in(1).meta, axis_along(ctx, ctx.attrs<SoftmaxAttrs>().axis, ctx.in(1)));
  lanes.add(ctx.out());
  lanes.add(ctx.in(0));
  lanes.add(ctx.in(1));
  run_lanes(ctx, kernels[index_of(dtype)], lanes.finish(),
            [&] { return fmt::format("softmax_vjp_lanes<{}, {}>", element_type(dtype), kLog); });
}

// Inputs from `first` on: pred, label, class weights; before them the gradient, or nothing.
void run_loss(const KernelContext& ctx, size_t first, JitKernel (&kernels)[kDTypes][kDTypes],
              const char* function) {
  const auto& attrs = ctx.attrs<SoftmaxCrossEntropyAttrs>();
  const TensorImpl &pred = ctx.in(first), &label = ctx.in(first + 1);
  Lanes lanes(pred.meta, axis_along(ctx, attrs.axis, pred));
  const bool gives_gradient = first == 1, sparse = is_integer(label.meta.dtype);
  gives_gradient ? lanes.add(ctx.out()) : lanes.add_without_axis(ctx.out());
  lanes.add(pred);
  sparse ? lanes.add_without_axis(label) : lanes.add(label);
  lanes.add_vector(ctx.has(first + 2) ? &ctx.in(first + 2) : nullptr);
  if (gives_gradient) lanes.add_without_axis(ctx.in(0));
  LaneArgs& args = lanes.finish();
  args.label_smoothing = attrs.label_smoothing;
  args.ignore_label = attrs.ignore_label;
  const DType dtype = pred.meta.dtype, classes = label.meta.dtype;
  run_lanes(ctx, kernels[index_of(dtype)][index_of(classes)], args, [&] {
    return fmt::format("{}<{}, {}>", function, element_type(dtype), element_type(classes));
  });
}

void run_cross_entropy(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes][kDTypes];
  run_loss(ctx, 0, kernels, "cross_entropy_lanes");
}

void run_cross_entropy_vjp(const KernelContext& ctx) {
  static JitKernel kernels[kDTypes][kDTypes];
  run_loss(ctx, 1, kernels, "cross_entropy_vjp_lanes");
}

}  // namespace

void register_softmax() {
  const auto add = [](const char* name, void (*run)(const KernelContext&)) {
    add_kernel(name, DeviceKind::cuda, {"nvrtc", refuse_without_compiler, run});
  };
  add("softmax", run_softmax<false>);
  add("log_softmax", run_softmax<true>);
  add("softmax_vjp", run_softmax_vjp<false>);
  add("log_softmax_vjp", run_softmax_vjp<true>);
  add("softmax_cross_entropy", run_cross_entropy);
  add("softmax_cross_entropy_vjp", run_cross_entropy_vjp);
}

}  // namespace thalweg::cuda
