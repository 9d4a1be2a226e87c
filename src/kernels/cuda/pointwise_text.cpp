#include "kernels/cuda/pointwise_text.h"

#include <string_view>

#include "base/fail.h"
#include "kernels/cuda/nvrtc.h"

namespace thalweg::cuda {
namespace {

// The dtypes' classes in pointwise.def: the last dtype of each.
namespace last {
constexpr DType floating = DType::bf16, real = DType::u8, any = DType::boolean;
}
// What a gradient saves in pointwise.def: how many inputs its kernel has.
namespace gradient_inputs {
constexpr int none = 1, x = 2, y = 2, xy = 3;
}

constexpr PointwiseText kTexts[] = {
#define THALWEG_UNARY(name, dtypes, saved, forward, gradient, doc)                               \
  {#name, "Forward<pointwise::" #name ">", 1, last::dtypes, false},                              \
      {#name "_vjp", "Gradient<pointwise::" #name ", Kept::" #saved ">", gradient_inputs::saved, \
       last::floating, false},
#define THALWEG_UNARY_STEP(name, dtypes, forward, doc) \
  {#name, "Forward<pointwise::" #name ">", 1, last::dtypes, false},
#define THALWEG_UNARY_TEST(name, forward, doc) \
  {#name, "Forward<pointwise::" #name ">", 1, last::any, true},
#define THALWEG_BINARY_STEP(name, dtypes, forward, doc) \
  {#name, "Forward<pointwise::" #name ">", 2, last::dtypes, false},
#define THALWEG_BINARY(name, dtypes, forward, gradient_a, saved_a, gradient_b, saved_b, doc) \
  THALWEG_BINARY_STEP(name, dtypes, forward, doc)
#define THALWEG_COMPARE(name, forward, doc) \
  {#name, "Forward<pointwise::" #name ">", 2, last::any, true},
#include <thalweg/ops/pointwise.def>
#undef THALWEG_UNARY
#undef THALWEG_UNARY_STEP
#undef THALWEG_UNARY_TEST
#undef THALWEG_BINARY
#undef THALWEG_BINARY_STEP
#undef THALWEG_COMPARE
    {"clip", "Clip", 1, last::real, false},
    {"logical_not", "Not", 1, last::any, true},
};

}  // namespace

std::span<const PointwiseText> pointwise_texts() { return kTexts; }

std::optional<std::string> functor_of(const Op& op, DType out) {
  const std::string_view name = op.name;
  if (name == "where") return "Where";
  if (name == "cast") return fmt::format("Cast<{}>", element_type(out));
  for (const PointwiseText& text : kTexts) {
    if (name == text.op) return text.functor;
  }
  return std::nullopt;
}

std::string pointwise_call(const std::string& functor, DType out, std::span<const DType> in) {
  std::string types = element_type(out);
  for (const DType dtype : in) types += fmt::format(", {}", element_type(dtype));
  return fmt::format("pointwise_kernel<{}, {}>", functor, types);
}

}  // namespace thalweg::cuda
