#include <thalweg/nn/attention.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"

namespace thalweg::nn {
namespace {

int64_t checked_heads(int64_t units, int64_t heads) {
  if (units >= 1 && heads >= 1 && units % heads == 0) return heads;
  fail_invalid("MultiHeadAttention: {} units cannot be cut into {} heads", units, heads);
}

int64_t checked_kv_heads(int64_t heads, int64_t kv_heads) {
  if (kv_heads == 0) return heads;
  if (kv_heads > 0 && heads % kv_heads == 0) return kv_heads;
  fail_invalid("MultiHeadAttention: {} heads cannot share {} heads of keys", heads, kv_heads);
}

DenseOptions dense_options(const MultiHeadAttentionOptions& o) {
  return {.bias = o.bias, .weight_init = o.weight_init, .dtype = o.dtype};
}

// [B, T, heads D] -> [B, heads, T, D] without a copy.
Tensor cut_heads(const Tensor& x, int64_t heads) {
  const Shape& s = x.shape();
  return permute(reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

Tensor join_heads(const Tensor& x) {
  const Shape& s = x.shape();
  return reshape(permute(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

void require_sequence(const char* layer, const Tensor& x) {
  if (x.dims() == 3) return;
  fail_invalid("{}: input {}; expected [B, T, units]", layer, to_string(x.shape()));
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(int64_t units, int64_t heads,
                                       MultiHeadAttentionOptions options)
    : query(units, dense_options(options)),
      key(units / checked_heads(units, heads) * checked_kv_heads(heads, options.kv_heads),
          dense_options(options)),
      value(key.weight.shape()[0], dense_options(options)),
      out(units, dense_options(options)),
      heads_(heads),
      kv_heads_(checked_kv_heads(heads, options.kv_heads)),
      causal_(options.causal),
      rope_(options.rope),
      dropout_(options.dropout) {}

Tensor MultiHeadAttention::operator()(const Tensor& x, const Tensor& memory, const Tensor& mask) {
  return run([&] { return attend(x, memory, mask); }, x, memory);
}

void MultiHeadAttention::members(Members& m) {
  m("query", query)("key", key)("value", value)("out", out);
}

std::string MultiHeadAttention::describe() {
  std::string options = fmt::format("heads={}", heads_);
  if (kv_heads_ != heads_) options += fmt::format(", kv_heads={}", kv_heads_);
  if (causal_) options += ", causal=true";
  if (rope_) options += ", rope=true";
  return fmt::format("{}({}{}", type_name(), options,
                     Module::describe().substr(type_name().size() + 1));
}

Tensor MultiHeadAttention::attend(const Tensor& x, const Tensor& memory, const Tensor& mask) {
  require_sequence("MultiHeadAttention", x);
  require_sequence("MultiHeadAttention", memory);
  Tensor q = cut_heads(query(x), heads_), k = cut_heads(key(memory), kv_heads_);
  if (rope_) {
    q = rope(q, *rope_);
    k = rope(k, *rope_);
  }
  const Tensor v = cut_heads(value(memory), kv_heads_);
  const Tensor y = thalweg::attention(q, k, v, {.causal = causal_, .mask = mask});
  return dropout_(out(join_heads(y)));
}

TransformerBlock::TransformerBlock(int64_t units, int64_t heads, TransformerBlockOptions o)
    : norm1({.epsilon = o.epsilon}),
      attention(units, heads,
                {.causal = o.causal,
                 .dropout = o.dropout,
                 .kv_heads = o.kv_heads,
                 .bias = o.bias,
                 .rope = o.rope,
                 .weight_init = o.weight_init,
                 .dtype = o.dtype}),
      norm2({.epsilon = o.epsilon}),
      up(o.hidden_units == 0 ? 4 * units : o.hidden_units, {.activation = o.activation,
                                                            .bias = o.bias,
                                                            .weight_init = o.weight_init,
                                                            .dtype = o.dtype}),
      down(units, {.bias = o.bias, .weight_init = o.weight_init, .dtype = o.dtype}),
      dropout_(o.dropout) {}

Tensor TransformerBlock::operator()(const Tensor& x, const Tensor& mask) {
  return run([&] { return apply_to(x, mask); }, x);
}

void TransformerBlock::members(Members& m) {
  m("norm1", norm1)("attention", attention)("norm2", norm2)("up", up)("down", down);
}

Tensor TransformerBlock::apply_to(const Tensor& x, const Tensor& mask) {
  require_sequence("TransformerBlock", x);
  const int64_t units = down.weight.shape()[0];
  if (x.size(2) != units) {
    fail_invalid("TransformerBlock: input {} has {} units; expected {}", to_string(x.shape()),
                 x.size(2), units);
  }
  const Tensor normal = norm1(x);
  const Tensor y = x + (mask.defined() ? attention(normal, normal, mask) : attention(normal));
  return y + dropout_(down(up(norm2(y))));
}

PositionalEmbedding::PositionalEmbedding(int64_t length, int64_t units,
                                         PositionalEmbeddingOptions options) {
  if (length < 1 || units < 1) {
    fail_invalid("PositionalEmbedding: length and units must be positive; {}, {}", length, units);
  }
  weight =
      Parameter({length, units}, {.init = std::move(options.weight_init), .dtype = options.dtype});
}

std::string PositionalEmbedding::describe() {
  return fmt::format("PositionalEmbedding({} x {})", weight.shape()[0], weight.shape()[1]);
}

Tensor PositionalEmbedding::forward(const Tensor& x) {
  const int64_t length = weight.shape()[0], units = weight.shape()[1];
  if (x.dims() < 2 || x.size(-1) != units || x.size(-2) > length) {
    fail_invalid("PositionalEmbedding: input {}; expected [..., T, {}] with T up to {}",
                 to_string(x.shape()), units, length);
  }
  return x + (x.size(-2) == length ? weight.data() : slice(weight.data(), 0, 0, x.size(-2)));
}

}  // namespace thalweg::nn
