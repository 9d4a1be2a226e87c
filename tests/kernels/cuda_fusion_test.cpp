// Kernels that are pasted together of several point-wise ops.

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>

#include "kernels/cuda/fusion.h"
#include "kernels/cuda/nvrtc.h"
#include "kernels/cuda/pointwise_text.h"
#include "ops/select.h"

namespace thalweg::cuda {
namespace {

/// A random run: every part reads inputs or what parts before it made.
struct RandomRun {
  explicit RandomRun(unsigned seed) : random(seed) {
    constexpr DType dtypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i32};
    dtype = dtypes[random() % 5];
    const uint32_t inputs = 1 + random() % 3, parts = 2 + random() % 5;
    for (uint32_t i = 0; i < inputs; ++i) operands.push_back({dtype, i == 1});
    operands.push_back({dtype, false});  // the output
    run.inputs = inputs;
    run.outputs = 1;
    lists.reserve(parts);
    for (uint32_t p = 0; p < parts; ++p) add_part(p + 1 == parts);
    run.operands = operands;
  }

  void add_part(bool last) {
    const auto texts = pointwise_texts();
    const PointwiseText* text = nullptr;
    do {
      text = &texts[random() % texts.size()];
    } while (dtype > text->last || text->gives_bool);
    std::vector<uint32_t>& in = lists.emplace_back();
    for (int k = 0; k < text->inputs; ++k) {
      uint32_t operand;
      do {
        operand = static_cast<uint32_t>(random() % operands.size());
      } while (operand == run.inputs);  // the output
      in.push_back(operand);
    }
    const auto own = static_cast<uint32_t>(operands.size());
    if (!last) operands.push_back({dtype, false});
    run.parts.push_back(
        {&find_op(text->op), &clip, in, last ? static_cast<uint32_t>(run.inputs) : own});
  }

  std::mt19937 random;
  DType dtype;
  ClipAttrs clip;
  std::vector<FusedRun::Operand> operands;
  std::vector<std::vector<uint32_t>> lists;
  FusedRun run;
};

TEST(CudaFusion, RandomRunsCompile) {
  if (const char* why = why_no_compiler()) GTEST_SKIP() << why;
  neg(Tensor::ones({1}));  // registers the kernels
  for (unsigned seed = 0; seed < 6; ++seed) {
    const RandomRun random(seed);
    const std::string source = fused_source(random.run);
    EXPECT_NO_THROW(compile(source, "compute_75")) << source;
  }
}

TEST(CudaFusion, OperandsAreReadOnceAndOnlyOutputsAreWritten) {
  const uint32_t first[] = {0, 1}, second[] = {3, 0};
  FusedRun run;
  run.parts = {{&find_op("mul"), nullptr, first, 3}, {&find_op("less"), nullptr, second, 2}};
  const FusedRun::Operand operands[] = {
      {DType::f16, false}, {DType::f16, true}, {DType::boolean, false}, {DType::f16, false}};
  run.operands = operands;
  run.inputs = 2;
  run.outputs = 1;
  EXPECT_EQ(fused_source(run),
            "#include \"kernels/cuda/device/fused.cuh\"\n"
            "using namespace thalweg;\n"
            "using namespace thalweg::cuda;\n"
            "extern \"C\" __global__ void kernel(const __grid_constant__ FusedArgs args) {\n"
            "  for (int64_t i = first_item(); i < args.count; i += item_step()) {\n"
            "    const auto v0 = load<thalweg::Float16>(args.data[0] + i * 2);\n"
            "    const auto v1 = load<thalweg::Float16>(args.data[1]);\n"
            "    const auto v2 = rounded<thalweg::Float16>(Forward<pointwise::mul>::apply("
            "args.numbers[0], v0, v1));  // mul\n"
            "    const auto v3 = rounded<bool>(Forward<pointwise::less>::apply("
            "args.numbers[1], v2, v0));  // less\n"
            "    store<bool>(args.data[2] + i * 1, v3);\n"
            "  }\n"
            "}\n");
}

TEST(CudaFusion, WhatIsReadBeforeItIsWrittenIsLoaded) {
  const uint32_t in[] = {0, 0};
  FusedRun run;  // the output is operand 0: x = x * x, x = x + x
  run.parts = {{&find_op("mul"), nullptr, in, 0}, {&find_op("add"), nullptr, in, 0}};
  const FusedRun::Operand operands[] = {{DType::f32, false}};
  run.operands = operands;
  run.outputs = 1;
  const std::string source = fused_source(run);
  EXPECT_NE(source.find("v0 = load<float>(args.data[0] + i * 4)"), std::string::npos) << source;
  EXPECT_NE(source.find("pointwise::add>::apply(args.numbers[1], v1, v1)"), std::string::npos)
      << source;
}

}  // namespace
}  // namespace thalweg::cuda
