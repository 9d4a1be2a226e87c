#pragma once

// What kernels of attention and rope read.

#include <array>

#include <thalweg/ops/attention.h>
#include <thalweg/ops/op.h>

namespace thalweg {

struct AttentionAttrs {
  bool causal = false;
  double scale = 1;
  static auto fields() {
    return std::tuple{
        attr("causal", &AttentionAttrs::causal, "no query sees a later key"),
        attr("scale", &AttentionAttrs::scale, "multiplies products of queries and keys")};
  }
};

struct RopeAttrs {
  RopePairs pairs = RopePairs::halves;
  int64_t offset = 0;
  double base = 10000;
  bool inverse = false;
  static constexpr const char* kPairs[] = {"halves", "neighbours"};
  static auto fields() {
    return std::tuple{attr("pairs", &RopeAttrs::pairs, "elements that turn together", kPairs),
                      attr("offset", &RopeAttrs::offset, "position of the first row"),
                      attr("base", &RopeAttrs::base, "pair i turns by position / base^(2 i / D)"),
                      attr("inverse", &RopeAttrs::inverse, "turn the other way")};
  }
};

/// The sizes of one call.
struct AttentionSizes {
  int64_t batch, heads, kv_heads, queries, keys, size, value_size;
  bool causal;

  AttentionSizes(const TensorMeta& q, const TensorMeta& k, const TensorMeta& v, bool is_causal)
      : batch(q.shape[0]),
        heads(q.shape[1]),
        kv_heads(k.shape[1]),
        queries(q.shape[2]),
        keys(k.shape[2]),
        size(q.shape[3]),
        value_size(v.shape[3]),
        causal(is_causal) {}

  /// Keys that query i may see: those below this number.
  int64_t visible(int64_t i) const {
    const int64_t end = i + 1 + keys - queries;
    return !causal || end > keys ? keys : end < 0 ? 0 : end;
  }
  int64_t kv_head(int64_t head) const { return head / (heads / kv_heads); }
};

/// Strides of a mask over [B, H, queries, keys]; 0 where it repeats.
std::array<int64_t, 4> mask_strides(const TensorMeta& mask);

void reference_attention(const KernelContext& ctx);
/// Inputs grad, q, k, v, out, row_sums, mask?; outputs the gradients of q, k and v.
void reference_attention_vjp(const KernelContext& ctx);

}  // namespace thalweg
