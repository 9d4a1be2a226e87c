#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

struct PositionalEmbedding : LayerPart {
  int64_t length = 0;
  int64_t units = 0;

  Fields fields() override {
    return {{"length", &length, "positions, at most", 1},
            {"units", &units, "size of the input", 1}};
  }
  void add_to(nn::Sequential& net) const override {
    net.add(nn::PositionalEmbedding(length, units));
  }
};

struct TransformerBlock : LayerPart {
  int64_t units = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t hidden_units = 0;
  bool causal = false;
  bool rope = false;
  double dropout = 0;
  std::string activation = "gelu";
  bool bias = true;

  Fields fields() override {
    return {{"units", &units, "size of the input and the output", 1},
            {"heads", &heads, "of the attention; they must divide the units", 1},
            {"kv_heads", &kv_heads, "heads of keys and values; 0: as many", 0},
            {"hidden_units", &hidden_units, "inside of the second half; 0: 4 units", 0},
            {"causal", &causal, "no position sees a later one"},
            {"rope", &rope, "turn queries and keys by their positions"},
            {"dropout", &dropout, "of what each half adds", 0, 1},
            one_of("activation", &activation, "in the second half", nn::activation_names()),
            {"bias", &bias, "of the dense layers"}};
  }
  void add_to(nn::Sequential& net) const override {
    nn::TransformerBlockOptions options{.causal = causal,
                                        .dropout = dropout,
                                        .hidden_units = hidden_units,
                                        .activation = nn::activation(activation),
                                        .kv_heads = kv_heads,
                                        .bias = bias};
    if (rope) options.rope = RopeOptions{};
    net.add(nn::TransformerBlock(units, heads, options));
  }
};

}  // namespace

std::unique_ptr<Part> make_positional_embedding() { return make_part<PositionalEmbedding>(); }
std::unique_ptr<Part> make_transformer_block() { return make_part<TransformerBlock>(); }

}  // namespace thalweg::cli
