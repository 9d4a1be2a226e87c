#include "ops/attention.h"

#include <cmath>
#include <limits>

#include <thalweg/ops/call.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/ops/views.h>
#include <thalweg/ops/vjp.h>

#include "base/fail.h"
#include "ops/infer.h"
#include "ops/norm.h"
#include "ops/samples.h"
#include "ops/table.h"

namespace thalweg {
namespace {

void check_sizes(const InferContext& ctx) {
  const Shape &q = ctx.in(0).shape, &k = ctx.in(1).shape, &v = ctx.in(2).shape;
  const char* hint = nullptr;
  if (k[0] != q[0] || v[0] != q[0])
    hint = "the batches differ";
  else if (k[3] != q[3])
    hint = "queries and keys differ in size";
  else if (k[2] != v[2])
    hint = "there must be a value for each key";
  else if (k[1] != v[1])
    hint = "keys and values differ in heads";
  else if (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0)
    hint = "the heads of the keys must divide those of the queries";
  if (!hint) return;
  fail_invalid(
      "attention: {}; q {}, k {}, v {}; expected [B, H, queries, D], [B, Hk, keys, D] and "
      "[B, Hk, keys, Dv]",
      hint, to_string(q), to_string(k), to_string(v));
}

void check_mask(const InferContext& ctx, const TensorMeta& mask) {
  const Shape &q = ctx.in(0).shape, &k = ctx.in(1).shape;
  const Shape scores{q[0], q[1], q[2], k[2]};
  const size_t n = mask.shape.size();
  bool fits = n <= scores.size();
  for (size_t i = 1; fits && i <= n; ++i) {
    fits = mask.shape[n - i] == 1 || mask.shape[n - i] == scores[scores.size() - i];
  }
  if (!fits) {
    fail_invalid("attention: mask {} does not broadcast to [B, H, queries, keys] = {}",
                 to_string(mask.shape), to_string(scores));
  }
  if (mask.dtype != DType::boolean && mask.dtype != ctx.in(0).dtype) {
    fail_invalid("attention: the mask is {} beside q of {}; it takes bool or q's dtype",
                 name(mask.dtype), name(ctx.in(0).dtype));
  }
}

// Row-major, but with the heads inside the rows where `model` has them there: what is cut into
// heads and joined again then needs no copy.
void set_layout_like(TensorMeta& out, const TensorMeta& model, const Shape& shape) {
  out.set_row_major(shape);
  if (std::abs(model.strides[1]) >= std::abs(model.strides[2])) return;
  out.strides[1] = shape[3];
  out.strides[2] = shape[1] * shape[3];
}

void infer_attention(const InferContext& ctx) {
  require_floating(ctx, 0);
  for (size_t i = 0; i < 3; ++i) {
    require_dims(ctx, i, 4, "[B, H, T, D]");
    require_same_dtype(ctx, 0, i);
  }
  check_sizes(ctx);
  if (ctx.has(3)) check_mask(ctx, ctx.in(3));
  const TensorMeta& q = ctx.in(0);
  const int64_t value_size = ctx.in(2).shape[3];
  ctx.out(0).dtype = q.dtype;
  set_layout_like(ctx.out(0), q, {q.shape[0], q.shape[1], q.shape[2], value_size});
  ctx.out(1).dtype = statistics_dtype(q.dtype);
  ctx.out(1).set_row_major({q.shape[0], q.shape[1], q.shape[2]});
}

void infer_attention_vjp(const InferContext& ctx) {
  for (size_t i = 0; i < 3; ++i) {
    const TensorMeta& like = ctx.in(i + 1);
    ctx.out(i).dtype = like.dtype;
    set_layout_like(ctx.out(i), like, like.shape);
  }
}

const Op kAttentionVjp{.name = "attention_vjp",
                       .doc = "The gradients of attention with respect to q, k and v.",
                       .inputs = "grad, q, k, v, out, log_sums, mask?",
                       .attrs = attr_info<AttentionAttrs>,
                       .flags = {.internal = true},
                       .outputs = 3,
                       .infer = infer_attention_vjp,
                       .no_gradient = "it is a fused gradient, used where no second one is wanted",
                       .reference = reference_attention_vjp};

constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

// The gradients in terms of ops, all products of queries and keys at once: q in groups of the heads
// that share keys.
class GradientsByOps {
 public:
  explicit GradientsByOps(VjpContext& ctx)
      : ctx_(ctx),
        a_(ctx.attrs<AttentionAttrs>()),
        dtype_(statistics_dtype(ctx.input_meta(0).dtype)),
        q_shape_(ctx.input_meta(0).shape),
        keys_(ctx.input_meta(1).shape[2]),
        kv_heads_(ctx.input_meta(1).shape[1]) {}

  void run() {
    const Tensor q = grouped(wide(ctx_.input(0)));
    const Tensor k = shared(ctx_.input(1)), v = shared(ctx_.input(2));
    const Tensor p = softmax(masked(joined(matmul(q, transpose(k)) * a_.scale)), -1);
    Tensor ds = Tensor::zeros(p.shape(), {p.dtype(), p.device()});
    if (ctx_.has_grad(0)) {
      const Tensor g = grouped(wide(ctx_.grad(0)));
      if (ctx_.needs(2)) set(2, sum(matmul(transpose(grouped(p)), g), {2}));
      const Tensor dp = joined(matmul(g, transpose(v)));
      ds = p * (dp - sum(dp * p, {-1}, true));
    } else if (ctx_.needs(2)) {
      set(2, Tensor::zeros(ctx_.input_meta(2).shape, {dtype_, p.device()}));
    }
    if (ctx_.has_grad(1)) ds = ds + p * expand_dims(ctx_.grad(1), -1);
    if (ctx_.needs(3)) set(3, sum_to(ds, ctx_.input_meta(3).shape));
    const Tensor scaled = grouped(ds) * a_.scale;
    if (ctx_.needs(0)) set(0, joined(matmul(scaled, k)));
    if (ctx_.needs(1)) set(1, sum(matmul(transpose(scaled), q), {2}));
  }

 private:
  Tensor wide(const Tensor& x) const { return cast(x, dtype_); }
  // [B, H, ...] as [B, Hk, H / Hk, ...], and back.
  Tensor grouped(const Tensor& x) const {
    const Shape& s = x.shape();
    const int64_t group = kv_heads_ == 0 ? 0 : s[1] / kv_heads_;
    return reshape(x, {s[0], kv_heads_, group, s[2], s[3]});
  }
  Tensor joined(const Tensor& x) const {
    const Shape& s = x.shape();
    return reshape(x, {s[0], s[1] * s[2], s[3], s[4]});
  }
  Tensor shared(const Tensor& x) const { return expand_dims(wide(x), 2); }

  Tensor masked(Tensor scores) const {
    if (a_.causal) {
      const Tensor ones = Tensor::ones({q_shape_[2], keys_}, {DType::f32, scores.device()});
      const Tensor seen = cast(tril(ones, keys_ - q_shape_[2]), DType::boolean);
      scores = where(seen, scores, kMinusInf);
    }
    const Tensor& mask = ctx_.input(3);
    if (!mask.defined()) return scores;
    if (mask.dtype() == DType::boolean) return where(mask, scores, kMinusInf);
    return scores + wide(mask);
  }

  void set(size_t i, const Tensor& gradient) {
    ctx_.set(i, cast(gradient, ctx_.input_meta(i).dtype));
  }

  VjpContext& ctx_;
  const AttentionAttrs& a_;
  DType dtype_;
  Shape q_shape_;
  int64_t keys_, kv_heads_;
};

void vjp_attention(VjpContext& ctx) {
  if (ctx.creates_graph() || ctx.has_grad(1) || ctx.needs(3)) return GradientsByOps(ctx).run();
  const TensorImpl* in[7] = {ctx.grad(0).impl(),  ctx.input(0).impl(),  ctx.input(1).impl(),
                             ctx.input(2).impl(), ctx.output(0).impl(), ctx.output(1).impl(),
                             ctx.input(3).impl()};
  std::vector<Tensor> results = call_many(kAttentionVjp, &ctx.attrs<AttentionAttrs>(), in);
  for (size_t i = 0; i < results.size(); ++i) {
    if (ctx.needs(i)) ctx.set(i, std::move(results[i]));
  }
}

void sample_attention(Samples& s) {
  const auto qkv = [&](const Shape& q, const Shape& k, const Shape& v, const Tensor& mask,
                       const AttentionAttrs& a) {
    s.add({s.spread(q), s.spread(k), s.spread(v), mask}, a);
  };
  qkv({1, 2, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}, Tensor(), {false, 0.7});
  qkv({2, 2, 3, 2}, {2, 1, 4, 2}, {2, 1, 4, 3}, Tensor(), {true, 0.5});
  qkv({1, 1, 4, 1}, {1, 1, 2, 1}, {1, 1, 2, 1}, Tensor(), {true, 1});
  qkv({1, 2, 1, 3}, {1, 2, 1, 3}, {1, 2, 1, 2}, Tensor(), {true, 1});
  qkv({1, 4, 2, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}, s.booleans({4, 2, 3}), {false, 0.7});
  qkv({1, 2, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}, s.spread({2, 1, 3}), {false, 0.7});
  qkv({2, 1, 0, 2}, {2, 1, 3, 2}, {2, 1, 3, 2}, Tensor(), {true, 1});
  qkv({1, 1, 2, 2}, {1, 1, 0, 2}, {1, 1, 0, 2}, Tensor(), {false, 1});
  qkv({1, 2, 37, 5}, {1, 1, 141, 5}, {1, 1, 141, 3}, Tensor(), {true, 0.4});
}

const Op kAttention{
    .name = "attention",
    .doc = "softmax(scale q k^T + mask) v, and the logarithms of the softmax's sums.",
    .inputs = "q, k, v, mask?",
    .attrs = attr_info<AttentionAttrs>,
    .outputs = 2,
    .infer = infer_attention,
    .vjp = vjp_attention,
    .saves = {Saves{15, 3}, Saves{15, 3}, Saves{15, 3}, Saves{15, 3}},
    .reference = reference_attention,
    .samples = sample_attention};

}  // namespace

std::array<int64_t, 4> mask_strides(const TensorMeta& mask) {
  std::array<int64_t, 4> strides{};
  const size_t n = mask.shape.size();
  for (size_t i = 0; i < n; ++i) {
    strides[4 - n + i] = mask.shape[i] == 1 ? 0 : mask.strides[i];
  }
  return strides;
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options) {
  double scale = options.scale;
  if (!std::isfinite(scale)) fail_invalid("attention: scale is {}; it must be finite", scale);
  if (scale == 0) {
    const int64_t size = q.dims() == 4 ? q.size(3) : 1;
    scale = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(size, 1)));
  }
  const AttentionAttrs a{options.causal, scale};
  const TensorImpl* const in[4] = {q.impl(), k.impl(), v.impl(), options.mask.impl()};
  return std::move(call_many(kAttention, &a, in)[0]);
}

std::span<const Op* const> attention_rows() {
  static constexpr const Op* rows[] = {&kAttention, &kAttentionVjp};
  return rows;
}

}  // namespace thalweg
