#pragma once

// Attention, and the rotation of positions that goes before it.

#include <thalweg/tensor/tensor.h>

namespace thalweg {

struct AttentionOptions {
  /// Query i sees no key after i + keys - queries: the last query sees all keys, as it must where
  /// the keys of earlier calls are kept. With as many keys as queries this is PyTorch's is_causal;
  /// with other numbers PyTorch aligns the first of both instead.
  bool causal = false;
  double scale = 0;  ///< of the products of queries and keys; 0: 1 / sqrt(D)
  /// Broadcasts to [B, H, queries, keys]. Of bool: true where the query sees the key. Of q's dtype:
  /// added to the scaled products, -inf where the query does not see the key.
  Tensor mask = {};
};

/// softmax(scale q k^T + mask) v for each head (Vaswani et al. 2017): q [B, H, queries, D], k [B,
/// Hk, keys, D], v [B, Hk, keys, Dv] -> [B, H, queries, Dv]. Hk divides H: query head h reads key
/// head h / (H / Hk) (grouped queries, Ainslie et al. 2023). A query that sees no key gives zeros,
/// and gradients of 0. Computed in tiles (Dao et al. 2022): memory grows with queries + keys, not
/// with their product. Only where a second gradient or one of the mask is wanted are all products
/// kept at once. Throws Error{invalid} for shapes that do not fit.
THALWEG_API Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionOptions& options = {});

/// Which two elements of the last axis turn together.
enum class RopePairs : uint8_t {
  halves,      ///< i and i + D / 2, as in Llama's code and GPT-NeoX
  neighbours,  ///< 2 i and 2 i + 1, as in the paper
};

struct RopeOptions {
  RopePairs pairs = RopePairs::halves;
  int64_t offset = 0;   ///< position of the first element along the axis before the last
  double base = 10000;  ///< pair i turns by position * base^(-2 i / D)
};

/// x [..., T, D] with each pair of the last axis turned by an angle that grows with the position
/// (rotary position embedding, Su et al. 2021), so that products of two rows depend on the distance
/// of their positions. D must be even.
THALWEG_API Tensor rope(const Tensor& x, const RopeOptions& options = {});

}  // namespace thalweg
