#include "kernels/onednn/matmul_plan.h"

#include <algorithm>
#include <string_view>

#include "kernels/onednn/cache.h"

namespace thalweg::onednn {
namespace {

using dnnl::memory;

// Enough rows to be worth the order that oneDNN brings B into for each part.
constexpr int64_t kRows = 256;

const char* make_part(const MatmulKey& key, int64_t rows, const MatmulPlan& plan,
                      MatmulPart& part) {
  const auto type = data_type(static_cast<DType>(key.dtype));
  part.rows = rows;
  part.a = {{rows, key.k}, type, memory::dims{key.a_row, key.a_column}};
  part.c = {{rows, key.n}, type, memory::dims{key.c_row, 1}};
  const dnnl::matmul::primitive_desc desc =
      key.has_bias
          ? dnnl::matmul::primitive_desc(engine(), part.a, plan.b, plan.bias, part.c, attributes(),
                                         true)
          : dnnl::matmul::primitive_desc(engine(), part.a, plan.b, part.c, attributes(), true);
  if (!desc) return "oneDNN has no kernel for this dtype, these strides or this processor";
  if (std::string_view(desc.impl_info_str()).find("ref") != std::string_view::npos) {
    return "oneDNN has only its reference for this dtype, these strides or this processor";
  }
  part.primitive = dnnl::matmul(desc);
  part.scratchpad = desc.scratchpad_desc();
  return nullptr;
}

MatmulPlan make_plan(const MatmulKey& key) {
  MatmulPlan plan;
  try {
    const OneThread alone;
    const auto type = data_type(static_cast<DType>(key.dtype));
    plan.b = {{key.k, key.n}, type, memory::dims{key.b_row, key.b_column}};
    if (key.has_bias) plan.bias = {{1, key.n}, type, memory::format_tag::ab};
    const int64_t rows = std::min(key.m, kRows);
    plan.refusal = make_part(key, rows, plan, plan.part);
    if (!plan.refusal && key.m % rows) {
      plan.refusal = make_part(key, key.m % rows, plan, plan.rest);
    }
  } catch (const dnnl::error&) {
    plan.refusal = "oneDNN refuses these shapes or strides";
  }
  return plan;
}

}  // namespace

std::shared_ptr<const MatmulPlan> matmul_plan(const MatmulKey& key) {
  static Cache<MatmulKey, MatmulPlan>& cache = *new Cache<MatmulKey, MatmulPlan>;
  return cache.get(key, [&] { return std::make_shared<const MatmulPlan>(make_plan(key)); });
}

}  // namespace thalweg::onednn
