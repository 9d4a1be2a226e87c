// Every CUDA kernel against the reference kernel on the samples of its row. Needs a GPU.

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/samples.h>

#include "kernels/agreement.h"
#include "ops/explain.h"

namespace thalweg {
namespace {

// The same strides on the GPU, so that every layout is tried. The numbers of updates stay.
Tensor on_gpu(const Op& op, const Tensor& t, size_t input) {
  const bool is_numbers = input == 0 && std::string_view(op.name).ends_with("_update");
  if (!t.defined() || is_numbers) return t;
  const Storage& from = *t.impl()->storage;
  IntrusivePtr<TensorImpl> there = TensorImpl::create();
  there->meta = t.meta();
  there->meta.device = Device::cuda();
  there->alias(Storage::allocate(Device::cuda(), from.bytes()));
  copy_bytes(Device::cuda(), there->storage->data(), Device::cpu(), from.data(), from.bytes());
  return Tensor(std::move(there));
}

std::vector<Tensor> outputs_like(const std::vector<Tensor>& given, Device device) {
  std::vector<Tensor> result;
  for (const Tensor& t : given) {
    IntrusivePtr<TensorImpl> impl = TensorImpl::create();
    impl->meta = t.meta();
    impl->meta.device = device;
    impl->allocate();
    result.emplace_back(std::move(impl));
  }
  return result;
}

std::vector<TensorImpl*> targets_of(const std::vector<Tensor>& outputs) {
  std::vector<TensorImpl*> targets;
  for (const Tensor& t : outputs) targets.push_back(t.impl());
  return targets;
}

void expect_close(const Tensor& got, const Tensor& wanted, const std::string& what) {
  if (!is_floating(got.dtype())) {
    EXPECT_EQ(got.to(DType::i64).to_vector<int64_t>(), wanted.to(DType::i64).to_vector<int64_t>())
        << what;
    return;
  }
  const std::vector<double> g = got.to(DType::f64).to_vector<double>();
  const std::vector<double> w = wanted.to(DType::f64).to_vector<double>();
  for (size_t i = 0; i < g.size(); ++i) {
    if (std::isnan(w[i]) && std::isnan(g[i])) continue;
    if (w[i] == g[i]) continue;
    const double allowed = tolerance(got.dtype()) * std::max(1.0, std::abs(w[i]));
    ASSERT_NEAR(g[i], w[i], allowed) << what << ", element " << i;
  }
}

void expect_kernels_agree(const Op& op, const Sample& sample) {
  const auto inputs = impls(sample.inputs);
  const std::vector<Tensor> wanted = call_many(op, sample.attrs.data(), inputs);
  const auto expected = outputs_like(wanted, Device::cpu());
  op.reference(KernelContext(op, sample.attrs.data(), inputs, targets_of(expected)));
  std::vector<Tensor> moved;
  for (size_t i = 0; i < sample.inputs.size(); ++i)
    moved.push_back(on_gpu(op, sample.inputs[i], i));
  const auto there = impls(moved);
  for (const Kernel& kernel : op.kernels[static_cast<int>(DeviceKind::cuda)].all()) {
    const auto outputs = outputs_like(wanted, Device::cuda());
    const auto targets = targets_of(outputs);
    const KernelContext context(op, sample.attrs.data(), there, targets);
    if (kernel.refuse && kernel.refuse(context)) continue;
    kernel.run(context);
    for (size_t i = 0; i < outputs.size(); ++i) {
      expect_close(outputs[i].to(Device::cpu()), expected[i],
                   std::string(op.name) + " by " + kernel.name + " on " + describe_inputs(context));
    }
  }
}

class CudaKernels : public testing::TestWithParam<const Op*> {
 protected:
  void SetUp() override {
    if (device_count(DeviceKind::cuda) == 0) GTEST_SKIP() << "no CUDA device on this machine";
  }
};

TEST_P(CudaKernels, AgreeWithTheReference) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (const Sample& sample : samples_of(*GetParam(), dtype))
      expect_kernels_agree(*GetParam(), sample);
  }
}

std::vector<const Op*> rows_on_cuda() {
  neg(Tensor::ones({1}));  // registers the kernels
  std::vector<const Op*> rows;
  for (const Op* op : all_ops()) {
    const bool has_kernel = !op->kernels[static_cast<int>(DeviceKind::cuda)].all().empty();
    if (has_kernel && op->reference && op->samples) rows.push_back(op);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Rows, CudaKernels, testing::ValuesIn(rows_on_cuda()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace thalweg
