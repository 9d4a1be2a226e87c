// Runs of point-wise records as one kernel: what only they read stays in registers.

#include "kernels/cuda/fusion.h"

#include <vector>

#include "base/fail.h"
#include "kernels/cuda/device/walk.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/pointwise_text.h"
#include "ops/select.h"

namespace thalweg::cuda {
namespace {

/// Writes the body of the loop over elements.
class Writer {
 public:
  explicit Writer(const FusedRun& run) : run_(run), known_(run.operands.size()) {}

  std::string write() {
    for (size_t p = 0; p < run_.parts.size(); ++p) part(p);
    return text_;
  }

 private:
  std::string place(uint32_t operand) const {
    const FusedRun::Operand& o = run_.operands[operand];
    return o.repeats ? fmt::format("args.data[{}]", operand)
                     : fmt::format("args.data[{}] + i * {}", operand, item_size(o.dtype));
  }
  // The variable that holds an operand now.
  const std::string& value(uint32_t operand) {
    std::string& name = known_[operand];
    if (!name.empty()) return name;
    name = fmt::format("v{}", values_++);
    text_ += fmt::format("    const auto {} = load<{}>({});\n", name,
                         element_type(run_.operands[operand].dtype), place(operand));
    return name;
  }
  void part(size_t p) {
    const FusedRun::Part& part = run_.parts[p];
    const DType dtype = run_.operands[part.output].dtype;
    std::string arguments = fmt::format("args.numbers[{}]", p);
    for (const uint32_t input : part.inputs) arguments += ", " + value(input);
    const std::string name = fmt::format("v{}", values_++);
    text_ +=
        fmt::format("    const auto {} = rounded<{}>({}::apply({}));  // {}\n", name,
                    element_type(dtype), *functor_of(*part.op, dtype), arguments, part.op->name);
    known_[part.output] = name;
    if (part.output < run_.inputs + run_.outputs) {
      text_ +=
          fmt::format("    store<{}>({}, {});\n", element_type(dtype), place(part.output), name);
    }
  }

  const FusedRun& run_;
  std::vector<std::string> known_;
  int values_ = 0;
  std::string text_;
};

class Fused final : public FusedKernel {
 public:
  explicit Fused(const FusedRun& run) : source_(fused_source(run)) {
    for (size_t p = 0; p < run.parts.size(); ++p) {
      if (std::string_view(run.parts[p].op->name) != "clip") continue;
      const auto& clip = *static_cast<const ClipAttrs*>(run.parts[p].attrs);
      args_.numbers[p][0] = clip.low;
      args_.numbers[p][1] = clip.high;
    }
  }

  void run(const KernelContext& ctx) const override {
    FusedArgs args = args_;
    args.count = ctx.out().count;
    if (args.count == 0) return;
    for (size_t i = 0; i < ctx.inputs(); ++i) args.data[i] = ctx.in(i).as<char>();
    for (size_t i = 0; i < ctx.outputs(); ++i) args.data[ctx.inputs() + i] = ctx.out(i).as<char>();
    const Device device = ctx.out().meta.device;
    const cudaKernel_t kernel = kernel_.get(device, [&] { return source_; });
    launch(device, kernel, blocks_for(device, args.count), &args);
  }

 private:
  const std::string source_;
  FusedArgs args_ = {};
  mutable JitKernel kernel_;
};

bool takes(const Op& op) { return !why_no_compiler() && functor_of(op, DType::f32); }

std::unique_ptr<FusedKernel> make(const FusedRun& run) {
  THALWEG_ASSERT(run.parts.size() <= FusedArgs::kMostParts);
  THALWEG_ASSERT(run.inputs + run.outputs <= FusedArgs::kMostOperands);
  return std::make_unique<Fused>(run);
}

}  // namespace

std::string fused_source(const FusedRun& run) {
  return fmt::format(
      "#include \"kernels/cuda/device/fused.cuh\"\n"
      "using namespace thalweg;\n"
      "using namespace thalweg::cuda;\n"
      "extern \"C\" __global__ void {}(const __grid_constant__ FusedArgs args) {{\n"
      "  for (int64_t i = first_item(); i < args.count; i += item_step()) {{\n"
      "{}"
      "  }}\n"
      "}}\n",
      kKernelName, Writer(run).write());
}

void register_fusion() { set_device_fusion(DeviceKind::cuda, {takes, make}); }

}  // namespace thalweg::cuda
