// Attention in plain loops: a row of products at a time, in f64.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/attention.h"
#include "ops/reference.h"
#include "ops/sums.h"

namespace thalweg {
namespace {

// Element [b, h, t, i] of a row-major copy.
struct Rows {
  Scratch<double> values;
  int64_t heads, rows, size;

  explicit Rows(const TensorImpl& x)
      : values(to_doubles(x)),
        heads(x.meta.shape[1]),
        rows(x.meta.shape[2]),
        size(x.meta.shape[3]) {}
  double* at(int64_t b, int64_t h, int64_t t) const {
    return values.data() + ((b * heads + h) * rows + t) * size;
  }
};

double dot(const double* a, const double* b, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += a[i] * b[i];
  return total;
}

// The mask as numbers that are added.
class Mask {
 public:
  explicit Mask(const TensorImpl* mask) : mask_(mask) {
    if (mask) strides_ = mask_strides(mask->meta);
  }
  double at(int64_t b, int64_t h, int64_t query, int64_t key) const {
    if (!mask_) return 0;
    const int64_t i = b * strides_[0] + h * strides_[1] + query * strides_[2] + key * strides_[3];
    if (mask_->meta.dtype == DType::boolean) {
      return mask_->as<bool>()[i] ? 0 : -std::numeric_limits<double>::infinity();
    }
    double value = 0;
    visit_floating(mask_->meta.dtype,
                   [&](auto zero) { value = as_double(mask_->as<decltype(zero)>()[i]); });
    return value;
  }

 private:
  const TensorImpl* mask_;
  std::array<int64_t, 4> strides_{};
};

// The scaled and masked products of one query with the keys it may see.
struct Scores {
  const AttentionSizes& n;
  double scale;
  const Rows &q, &k;
  const Mask& mask;

  void operator()(int64_t b, int64_t h, int64_t i, double* scores) const {
    for (int64_t j = 0; j < n.visible(i); ++j) {
      scores[j] =
          scale * dot(q.at(b, h, i), k.at(b, n.kv_head(h), j), n.size) + mask.at(b, h, i, j);
    }
  }
};

// Turns scores into their exponentials by the sum of all; gives that sum's logarithm, 0 if it is 0.
double soften(double* scores, int64_t count) {
  const double largest =
      count ? *std::max_element(scores, scores + count) : -std::numeric_limits<double>::infinity();
  if (largest == -std::numeric_limits<double>::infinity()) {
    std::fill_n(scores, count, 0.0);
    return 0;
  }
  double total = 0;
  for (int64_t j = 0; j < count; ++j) total += scores[j] = std::exp(scores[j] - largest);
  for (int64_t j = 0; j < count; ++j) scores[j] /= total;
  return largest + std::log(total);
}

template <typename F>
void for_each_query(const AttentionSizes& n, F&& f) {
  for (int64_t b = 0; b < n.batch; ++b) {
    for (int64_t h = 0; h < n.heads; ++h) {
      for (int64_t i = 0; i < n.queries; ++i) f(b, h, i);
    }
  }
}

void store(const TensorImpl& out, const Scratch<double>& values) {
  visit_floating(out.meta.dtype, [&](auto zero) { store_sums<decltype(zero)>(out, values); });
}

}  // namespace

void reference_attention(const KernelContext& ctx) {
  const auto& a = ctx.attrs<AttentionAttrs>();
  const AttentionSizes n(ctx.in(0).meta, ctx.in(1).meta, ctx.in(2).meta, a.causal);
  const Rows q(ctx.in(0)), k(ctx.in(1)), v(ctx.in(2));
  const Mask mask(ctx.has(3) ? &ctx.in(3) : nullptr);
  const Scores score{n, a.scale, q, k, mask};
  Scratch<double> out(ctx.out(0).meta.size(), 0.0), log_sums(ctx.out(1).meta.size()), p(n.keys);
  int64_t row = 0;
  for_each_query(n, [&](int64_t b, int64_t h, int64_t i) {
    score(b, h, i, p.data());
    log_sums[row] = soften(p.data(), n.visible(i));
    double* o = out.data() + row++ * n.value_size;
    for (int64_t j = 0; j < n.visible(i); ++j) {
      const double* value = v.at(b, n.kv_head(h), j);
      for (int64_t d = 0; d < n.value_size; ++d) o[d] += p[j] * value[d];
    }
  });
  store(ctx.out(0), out);
  store(ctx.out(1), log_sums);
}

void reference_attention_vjp(const KernelContext& ctx) {
  const auto& a = ctx.attrs<AttentionAttrs>();
  const AttentionSizes n(ctx.in(1).meta, ctx.in(2).meta, ctx.in(3).meta, a.causal);
  const Rows g(ctx.in(0)), q(ctx.in(1)), k(ctx.in(2)), v(ctx.in(3));
  const Mask mask(ctx.has(6) ? &ctx.in(6) : nullptr);
  const Scores score{n, a.scale, q, k, mask};
  Rows dq(ctx.in(1)), dk(ctx.in(2)), dv(ctx.in(3));
  for (Rows* rows : {&dq, &dk, &dv}) std::fill(rows->values.begin(), rows->values.end(), 0.0);
  Scratch<double> p(n.keys), dp(n.keys);
  for_each_query(n, [&](int64_t b, int64_t h, int64_t i) {
    const int64_t kv = n.kv_head(h), visible = n.visible(i);
    score(b, h, i, p.data());
    soften(p.data(), visible);
    double total = 0;
    for (int64_t j = 0; j < visible; ++j) {
      dp[j] = dot(g.at(b, h, i), v.at(b, kv, j), n.value_size);
      total += p[j] * dp[j];
    }
    for (int64_t j = 0; j < visible; ++j) {
      const double ds = p[j] * (dp[j] - total) * a.scale;
      for (int64_t d = 0; d < n.value_size; ++d) dv.at(b, kv, j)[d] += p[j] * g.at(b, h, i)[d];
      for (int64_t d = 0; d < n.size; ++d) {
        dq.at(b, h, i)[d] += ds * k.at(b, kv, j)[d];
        dk.at(b, kv, j)[d] += ds * q.at(b, h, i)[d];
      }
    }
  });
  store(ctx.out(0), dq.values);
  store(ctx.out(1), dk.values);
  store(ctx.out(2), dv.values);
}

}  // namespace thalweg
