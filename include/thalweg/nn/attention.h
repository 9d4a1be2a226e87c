#pragma once

// Attention and what transformers are built of. Inputs are [B, T, units].

#include <optional>

#include <thalweg/nn/basic.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/ops/attention.h>

namespace thalweg::nn {

struct MultiHeadAttentionOptions {
  bool causal = false;   ///< no position sees a later one
  double dropout = 0;    ///< part of the result's elements that is dropped while training
  int64_t kv_heads = 0;  ///< heads of keys and values, which queries share; 0: as many as queries
  bool bias = true;
  std::optional<RopeOptions> rope = {};  ///< turns queries and keys by their positions
  init::Initializer weight_init = {};
  DType dtype = DType::f32;
};

/// Attention by several heads at once (Vaswani et al. 2017): three layers make queries, keys and
/// values of units / heads elements for each head, `attention` joins them, and a fourth layer mixes
/// the heads. x [B, T, in] -> [B, T, units]. Dropout is of the result, not of the weights of the
/// values. Throws Error{invalid} unless heads divide units, and kv_heads heads.
class THALWEG_API MultiHeadAttention : public Module {
 public:
  MultiHeadAttention(int64_t units, int64_t heads, MultiHeadAttentionOptions options = {});

  Dense query, key, value, out;

  using Module::operator();
  /// The positions of x [B, T, in] attend to those of `memory` [B, S, its own width]; a mask is
  /// that of thalweg::attention, for scores [B, heads, T, S]. `memory` may be x itself.
  Tensor operator()(const Tensor& x, const Tensor& memory, const Tensor& mask = {});

  void members(Members& m) override;
  std::string type_name() const override { return "MultiHeadAttention"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override { return attend(x, x, {}); }

 private:
  Tensor attend(const Tensor& x, const Tensor& memory, const Tensor& mask);

  int64_t heads_, kv_heads_;
  bool causal_;
  std::optional<RopeOptions> rope_;
  Dropout dropout_;
};

struct TransformerBlockOptions {
  bool causal = false;
  double dropout = 0;        ///< of what each half adds to x
  int64_t hidden_units = 0;  ///< between the two layers of the second half; 0: 4 units
  ActivationFunction activation = gelu;
  double epsilon = 1e-5;  ///< of the normalisations
  int64_t kv_heads = 0;   ///< see MultiHeadAttentionOptions
  bool bias = true;       ///< of the dense layers
  std::optional<RopeOptions> rope = {};
  init::Initializer weight_init = {};
  DType dtype = DType::f32;
};

/// x + attention(norm1(x)), then x + down(activation(up(norm2(x)))), each sum with dropout: a block
/// that normalises first, as GPT-2 has it. x [B, T, units].
class THALWEG_API TransformerBlock : public Module {
 public:
  TransformerBlock(int64_t units, int64_t heads, TransformerBlockOptions options = {});

  LayerNorm norm1;
  MultiHeadAttention attention;
  LayerNorm norm2;
  Dense up, down;

  using Module::operator();
  /// With a mask of the attention's scores [B, heads, T, T].
  Tensor operator()(const Tensor& x, const Tensor& mask);

  void members(Members& m) override;
  std::string type_name() const override { return "TransformerBlock"; }

 protected:
  Tensor forward(const Tensor& x) override { return apply_to(x, {}); }

 private:
  Tensor apply_to(const Tensor& x, const Tensor& mask);

  Dropout dropout_;
};

struct PositionalEmbeddingOptions {
  init::Initializer weight_init = {};
  DType dtype = DType::f32;
};

/// x [..., T, units] plus a learned row for each of its T positions. Parameter weight [length,
/// units]. Throws Error{invalid} for a T above `length`.
class THALWEG_API PositionalEmbedding : public Module {
 public:
  PositionalEmbedding(int64_t length, int64_t units, PositionalEmbeddingOptions options = {});

  Parameter weight;

  void members(Members& m) override { m("weight", weight); }
  std::string type_name() const override { return "PositionalEmbedding"; }
  std::string describe() override;

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace thalweg::nn
