// What can be known of CUDA kernels without a GPU: that they compile.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/samples.h>

#include "kernels/cuda/nvrtc.h"
#include "kernels/cuda/pointwise_text.h"

namespace thalweg::cuda {
namespace {

class CudaCompile : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (const char* why = why_no_compiler()) GTEST_SKIP() << why;
  }
};

// Every row of pointwise.def that takes the dtype, in one source.
std::string all_rows(DType dtype) {
  std::string source =
      "#include \"kernels/cuda/device/pointwise.cuh\"\n"
      "using namespace thalweg;\nusing namespace thalweg::cuda;\n";
  for (const PointwiseText& text : pointwise_texts()) {
    if (dtype > text.last) continue;
    const std::vector<DType> in(static_cast<size_t>(text.inputs), dtype);
    const DType out = text.gives_bool ? DType::boolean : dtype;
    source += fmt::format("__global__ void k_{}(const __grid_constant__ PointwiseArgs args) {{\n",
                          text.op);
    source += fmt::format("  {}(args);\n}}\n", pointwise_call(text.functor, out, in));
  }
  return source;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_P(CudaCompile, MakesPtxOfEveryPointwiseRow) {
  const std::string source = all_rows(GetParam());
  const std::string ptx = compile(source, "compute_75");
  EXPECT_EQ(count_of(ptx, ".visible .entry"), count_of(source, "__global__"));
}

// Code for a processor takes ten times as long as PTX.
TEST_P(CudaCompile, MakesCodeForHopper) {
  const std::vector<DType> in(2, GetParam());
  const std::string source = kernel_source(
      "pointwise", "PointwiseArgs", pointwise_call("Forward<pointwise::less>", DType::boolean, in));
  EXPECT_TRUE(compile(source, "sm_90").starts_with("\177ELF"));
}

TEST(CudaCompileErrors, CarryTheCompilersLog) {
  if (const char* why = why_no_compiler()) GTEST_SKIP() << why;
  try {
    compile("__global__ void k() { no_such_name; }", "compute_75");
    ADD_FAILURE() << "it compiled";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_name"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, CudaCompile,
                         testing::Values(DType::f32, DType::f64, DType::f16, DType::bf16,
                                         DType::i64, DType::i32, DType::i16, DType::i8, DType::u8,
                                         DType::boolean),
                         [](const auto& info) { return std::string(name(info.param)); });

// Gradients have no samples of their own.
TEST(CudaGradients, OfSoftmaxAndItsLossCompile) {
  if (const char* why = why_no_compiler()) GTEST_SKIP() << why;
  for (const char* call :
       {"softmax_vjp_lanes<float, false>", "softmax_vjp_lanes<BFloat16, true>",
        "cross_entropy_vjp_lanes<float, int64_t>", "cross_entropy_vjp_lanes<double, uint8_t>",
        "cross_entropy_vjp_lanes<Float16, Float16>"}) {
    EXPECT_FALSE(compile(kernel_source("softmax", "LaneArgs", call), "compute_75").empty()) << call;
  }
}

// --- what the kernels themselves hand to the compiler ---

// A tensor on a GPU that is not there.
Tensor on_no_gpu(const Tensor& t) {
  if (!t.defined()) return t;
  IntrusivePtr<TensorImpl> there = TensorImpl::create();
  there->meta = t.meta();
  there->meta.device = Device::cuda();
  there->alias(Storage::borrow(
      Device::cuda(), t.impl()->storage->data(), t.impl()->storage->bytes(), [](void*) {},
      nullptr));
  return Tensor(std::move(there));
}

// Runs a kernel up to where it needs a device.
void compile_for(const Op& op, const Kernel& kernel, const Sample& sample) {
  std::vector<const TensorImpl*> inputs, inputs_there;
  std::vector<TensorImpl*> outputs_there;
  std::vector<Tensor> there;
  for (const Tensor& t : sample.inputs) {
    inputs.push_back(t.impl());
    there.push_back(on_no_gpu(t));
    inputs_there.push_back(there.back().impl());
  }
  const std::vector<Tensor> outputs = call_many(op, sample.attrs.data(), inputs);
  for (const Tensor& t : outputs) {
    there.push_back(on_no_gpu(t));
    outputs_there.push_back(there.back().impl());
  }
  const KernelContext context(op, sample.attrs.data(), inputs_there, outputs_there);
  try {
    if (kernel.refuse && kernel.refuse(context)) return;
    kernel.run(context);
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("cudaSetDevice")) << error.what();
  }
}

class CudaRows : public testing::TestWithParam<const Op*> {
 protected:
  void SetUp() override {
    if (const char* why = why_no_compiler()) GTEST_SKIP() << why;
    if (device_count(DeviceKind::cuda))
      GTEST_SKIP() << "there is a GPU: cuda_kernels_test runs them";
  }
};

TEST_P(CudaRows, HaveKernelsThatCompileForTheirSamples) {
  const Op& op = *GetParam();
  for (const DType dtype : {DType::f32, DType::f16}) {
    if (op.flags.pointwise && dtype != DType::f32) continue;  // see above
    for (const Sample& sample : samples_of(op, dtype)) {
      for (const Kernel& kernel : op.kernels[static_cast<int>(DeviceKind::cuda)].all())
        compile_for(op, kernel, sample);
      if (op.flags.pointwise) break;
    }
  }
}

// Those that a step of recipes/fashion-mnist-mlp.toml runs, and others that a change of it would.
TEST(CudaTable, HasEveryRowOfAnMlpsTraining) {
  neg(Tensor::ones({1}));  // registers the kernels
  for (const char* op :
       {"linear", "relu", "relu_vjp", "sigmoid", "tanh", "gelu", "matmul", "sum", "mean", "cast",
        "contiguous", "softmax", "log_softmax", "softmax_cross_entropy",
        "softmax_cross_entropy_vjp", "sgd_update", "adam_update", "global_norm"}) {
    EXPECT_FALSE(find_op(op).kernels[static_cast<int>(DeviceKind::cuda)].all().empty()) << op;
  }
}

std::vector<const Op*> rows_on_cuda() {
  neg(Tensor::ones({1}));  // registers the kernels
  std::vector<const Op*> rows;
  for (const Op* op : all_ops()) {
    const bool has_kernel = !op->kernels[static_cast<int>(DeviceKind::cuda)].all().empty();
    if (has_kernel && op->samples) rows.push_back(op);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Rows, CudaRows, testing::ValuesIn(rows_on_cuda()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace thalweg::cuda
