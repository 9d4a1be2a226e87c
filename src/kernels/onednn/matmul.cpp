// matmul and linear on halves by oneDNN, which sums them in f32.

#include <optional>

#include <thalweg/base/threads.h>

#include "kernels/gemm/operand.h"
#include "kernels/onednn/matmul_plan.h"
#include "kernels/onednn/register.h"
#include "ops/compose.h"

namespace thalweg {
namespace {

using gemm::BatchPositions;
using onednn::MatmulKey;
using onednn::MatmulPart;
using onednn::MatmulPlan;

// The strides of a dimension of size 1 say nothing; oneDNN wants one of the two to be 1.
void normalize(int64_t rows, int64_t columns, int64_t& row, int64_t& column) {
  if (columns == 1) column = 1;
  if (rows == 1) row = column == 1 ? columns : 1;
  if (columns == 1 && row < 1) row = 1;
}

bool is_plain(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return (column == 1 && row >= columns) || (row == 1 && column >= rows);
}

std::optional<MatmulKey> checked(MatmulKey key) {
  normalize(key.m, key.k, key.a_row, key.a_column);
  normalize(key.k, key.n, key.b_row, key.b_column);
  if (!is_plain(key.m, key.k, key.a_row, key.a_column)) return std::nullopt;
  if (!is_plain(key.k, key.n, key.b_row, key.b_column)) return std::nullopt;
  return key;
}

std::optional<MatmulKey> matmul_key(const KernelContext& ctx) {
  const TensorMeta &a = ctx.in(0).meta, &b = ctx.in(1).meta, &c = ctx.out().meta;
  const size_t na = a.shape.size(), nb = b.shape.size(), nc = c.shape.size();
  return checked({static_cast<int64_t>(a.dtype), 0, a.shape[na - 2], b.shape[nb - 1],
                  a.shape[na - 1], a.strides[na - 2], a.strides[na - 1], b.strides[nb - 2],
                  b.strides[nb - 1], c.strides[nc - 2]});
}

std::optional<MatmulKey> linear_key(const KernelContext& ctx) {
  const TensorMeta &x = ctx.in(0).meta, &w = ctx.in(1).meta;
  const auto row = gemm::row_stride(x);
  if (!row) return std::nullopt;
  const int64_t n = w.shape[0], k = w.shape[1];
  return checked({static_cast<int64_t>(x.dtype), ctx.has(2), x.size() / k, n, k, *row,
                  x.strides.back(), w.strides[1], w.strides[0], n});
}

template <std::optional<MatmulKey> (*kKey)(const KernelContext&)>
const char* refuse(const KernelContext& ctx) {
  if (!is_half(ctx.in(0).meta.dtype)) return "needs bf16 or f16: f32 has a faster one";
  if (ctx.in(0).meta.size() == 0 || ctx.in(1).meta.size() == 0) return "an empty tensor";
  if (ctx.has(2) && ctx.in(2).meta.strides[0] != 1) return "a strided bias";
  const auto key = kKey(ctx);
  return key ? onednn::matmul_plan(*key)->refusal : "strides that are neither rows nor columns";
}

const std::byte* at(const TensorImpl& tensor, int64_t position) {
  constexpr int64_t kBytes = 2;  // of a half
  return tensor.as<std::byte>() + position * kBytes;
}

void run_part(const MatmulPlan& plan, const MatmulPart& part, const void* a, const void* b,
              const void* bias, const void* c) {
  const onednn::Argument given[] = {
      {DNNL_ARG_SRC, part.a, a}, {DNNL_ARG_WEIGHTS, plan.b, b}, {DNNL_ARG_DST, part.c, c}};
  if (bias)
    onednn::run(part.primitive, part.scratchpad,
                {given[0], given[1], given[2], {DNNL_ARG_BIAS, plan.bias, bias}});
  else
    onednn::run(part.primitive, part.scratchpad, {given[0], given[1], given[2]});
}

// One matrix of the batch after the other, part by part, over the threads.
void run_parts(const MatmulKey& key, const KernelContext& ctx, const BatchPositions& positions,
               const BatchPositions& out) {
  const auto plan = onednn::matmul_plan(key);
  const int64_t rows = plan->part.rows, parts = (key.m + rows - 1) / rows;
  const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(key.n * key.k);
  constexpr double kFlopsPerNs = 200, kCallNs = 1000;
  parallel_tiles(positions.count() * parts, flops / kFlopsPerNs + kCallNs, [&](int64_t tile) {
    const int64_t matrix = tile / parts, first = tile % parts * rows;
    run_part(*plan, first + rows <= key.m ? plan->part : plan->rest,
             at(ctx.in(0), positions.in_a(matrix) + first * key.a_row),
             at(ctx.in(1), positions.in_b(matrix)), ctx.has(2) ? ctx.in(2).data : nullptr,
             at(ctx.out(), out.in_a(matrix) + first * key.c_row));
  });
}

void matmul(const KernelContext& ctx) {
  const TensorMeta& c = ctx.out().meta;
  run_parts(*matmul_key(ctx), ctx, {c, ctx.in(0).meta, ctx.in(1).meta}, {c, c, c});
}

void linear(const KernelContext& ctx) {
  const TensorMeta& weight = ctx.in(1).meta;
  const BatchPositions single{weight, weight, weight};
  run_parts(*linear_key(ctx), ctx, single, single);
}

}  // namespace

void onednn::register_matmul() {
  add_kernel("matmul", DeviceKind::cpu, {"onednn", refuse<matmul_key>, matmul});
  add_kernel("linear", DeviceKind::cpu, {"onednn", refuse<linear_key>, linear});
}

}  // namespace thalweg
