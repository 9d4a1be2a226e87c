#include "cli/recipe/families.h"

namespace thalweg::cli {
namespace {

Field activation_field(std::string* activation) {
  return one_of("activation", activation, "a function on the output; linear: none",
                nn::activation_names());
}

PerAxis per_axis(const std::vector<int64_t>& values) {
  return Dims(std::span<const int64_t>(values));
}

struct Dense : LayerPart {
  int64_t units = 0;
  std::string activation = "linear";
  bool bias = true;
  bool flatten = false;

  Fields fields() override {
    return {{"units", &units, "size of the output", 1},
            activation_field(&activation),
            {"bias", &bias, "add a learned vector"},
            {"flatten", &flatten, "join all axes of the input but the first"}};
  }
  void add_to(nn::Sequential& net) const override {
    net.add(nn::Dense(
        units, {.activation = nn::activation(activation), .bias = bias, .flatten = flatten}));
  }
};

struct Activation : LayerPart {
  std::string function = "relu";

  Fields fields() override {
    return {one_of("function", &function, "applied to each element", nn::activation_names())};
  }
  void add_to(nn::Sequential& net) const override {
    net.add(nn::Activation(nn::activation(function)));
  }
};

struct LeakyRelu : LayerPart {
  double slope = 0.01;

  Fields fields() override { return {{"slope", &slope, "at negative values"}}; }
  void add_to(nn::Sequential& net) const override { net.add(nn::LeakyReLU(slope)); }
};

template <typename Layer>
struct Conv : LayerPart {
  int64_t channels = 0;
  std::vector<int64_t> kernel = {3};
  std::vector<int64_t> stride = {1};
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> dilation = {1};
  int64_t groups = 1;
  bool bias = true;
  std::string activation = "linear";

  Fields fields() override {
    return {{"channels", &channels, "of the output", 1},
            {"kernel", &kernel, "size of the window", 1},
            {"stride", &stride, "step from one window to the next", 1},
            {"padding", &padding, "zeros put before and after each axis", 0},
            {"dilation", &dilation, "distance between neighbours in a window", 1},
            {"groups", &groups, "cuts the channels into convolutions side by side", 1},
            {"bias", &bias, "add a learned number to each channel"},
            activation_field(&activation)};
  }
  void add_to(nn::Sequential& net) const override {
    net.add(Layer(channels, {.kernel = per_axis(kernel),
                             .stride = per_axis(stride),
                             .padding = per_axis(padding),
                             .dilation = per_axis(dilation),
                             .groups = groups,
                             .activation = nn::activation(activation),
                             .bias = bias}));
  }
};

template <typename Layer>
struct ConvTranspose : LayerPart {
  int64_t channels = 0;
  std::vector<int64_t> kernel = {2};
  std::vector<int64_t> stride = {2};
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> output_padding = {0};
  std::vector<int64_t> dilation = {1};
  int64_t groups = 1;
  bool bias = true;
  std::string activation = "linear";

  Fields fields() override {
    return {{"channels", &channels, "of the output", 1},
            {"kernel", &kernel, "size of the window", 1},
            {"stride", &stride, "of the convolution that is reversed", 1},
            {"padding", &padding, "cut from both ends of the result", 0},
            {"output_padding", &output_padding, "added to the far end of the result", 0},
            {"dilation", &dilation, "distance between neighbours in a window", 1},
            {"groups", &groups, "cuts the channels into convolutions side by side", 1},
            {"bias", &bias, "add a learned number to each channel"},
            activation_field(&activation)};
  }
  void add_to(nn::Sequential& net) const override {
    net.add(Layer(channels, {.kernel = per_axis(kernel),
                             .stride = per_axis(stride),
                             .padding = per_axis(padding),
                             .output_padding = per_axis(output_padding),
                             .dilation = per_axis(dilation),
                             .groups = groups,
                             .activation = nn::activation(activation),
                             .bias = bias}));
  }
};

// The options of both kinds of pooling.
struct Pool : LayerPart {
  std::vector<int64_t> kernel = {2};
  std::vector<int64_t> stride = {0};
  std::vector<int64_t> padding = {0};
  bool ceil_mode = false;

  Fields fields() override {
    return {{"kernel", &kernel, "size of the window", 1},
            {"stride", &stride, "step from one window to the next; 0: the kernel's size", 0},
            {"padding", &padding, "put before and after each axis", 0},
            {"ceil_mode", &ceil_mode, "also windows that reach over the end"}};
  }
};

template <typename Layer>
struct MaxPool : Pool {
  void add_to(nn::Sequential& net) const override {
    net.add(Layer({.kernel = per_axis(kernel),
                   .stride = per_axis(stride),
                   .padding = per_axis(padding),
                   .ceil_mode = ceil_mode}));
  }
};

template <typename Layer>
struct AvgPool : Pool {
  bool count_include_pad = true;

  Fields fields() override {
    Fields fields = Pool::fields();
    fields.push_back(
        {"count_include_pad", &count_include_pad, "divide by the whole window's size"});
    return fields;
  }
  void add_to(nn::Sequential& net) const override {
    net.add(Layer({.kernel = per_axis(kernel),
                   .stride = per_axis(stride),
                   .padding = per_axis(padding),
                   .ceil_mode = ceil_mode,
                   .count_include_pad = count_include_pad}));
  }
};

// A layer without options.
template <typename Layer>
struct Plain : LayerPart {
  Fields fields() override { return {}; }
  void add_to(nn::Sequential& net) const override { net.add(Layer()); }
};

struct Embedding : LayerPart {
  int64_t count = 0;
  int64_t units = 0;
  int64_t padding = -1;

  Fields fields() override {
    return {{"count", &count, "of words: indices are below it", 1},
            {"units", &units, "size of the output", 1},
            {"padding", &padding, "this index gives zeros; -1: none", -1}};
  }
  void add_to(nn::Sequential& net) const override {
    net.add(nn::Embedding(count, units, {.padding = padding}));
  }
};

template <typename Layer>
struct Recurrent : LayerPart {
  int64_t units = 0;
  int64_t layers = 1;
  bool bidirectional = false;
  double dropout = 0;
  bool zero_padding = true;

  Fields fields() override {
    return {
        {"units", &units, "of each direction", 1},
        {"layers", &layers, "on top of each other", 1},
        {"bidirectional", &bidirectional, "a second direction, from the end"},
        {"dropout", &dropout, "part of the elements set to 0 between layers, in training", 0, 1},
        {"zero_padding", &zero_padding, "times at the end whose inputs are all 0 are padding"}};
  }
  void add_to(nn::Sequential& net) const override {
    net.add(Layer(units, {.layers = layers,
                          .bidirectional = bidirectional,
                          .dropout = dropout,
                          .zero_padding = zero_padding}));
  }
};

struct Dropout : LayerPart {
  double rate = 0.5;

  Fields fields() override {
    return {{"rate", &rate, "part of the elements that are set to 0 in training", 0, 1}};
  }
  void add_to(nn::Sequential& net) const override { net.add(nn::Dropout(rate)); }
};

// The options of all norms.
template <typename Options>
Fields norm_fields(Options& options) {
  return {{"epsilon", &options.epsilon, "added to the variance", 0},
          {"scale", &options.scale, "multiply by learned factors"},
          {"center", &options.center, "add learned numbers"}};
}

struct BatchNorm : LayerPart {
  nn::BatchNormLayerOptions options;

  Fields fields() override {
    Fields fields = norm_fields(options);
    fields.push_back({"momentum", &options.momentum,
                      "part of the running statistics that a training step keeps", 0, 1});
    return fields;
  }
  void add_to(nn::Sequential& net) const override { net.add(nn::BatchNorm(options)); }
};

struct LayerNorm : LayerPart {
  nn::LayerNormLayerOptions options;

  Fields fields() override {
    Fields fields = norm_fields(options);
    fields.push_back({"axes", &options.axes, "how many of the last axes go together", 1, 7});
    return fields;
  }
  void add_to(nn::Sequential& net) const override { net.add(nn::LayerNorm(options)); }
};

struct GroupNorm : LayerPart {
  int64_t groups = 0;
  nn::GroupNormLayerOptions options;

  Fields fields() override {
    Fields fields = norm_fields(options);
    fields.push_back({"groups", &groups, "of channels", 1});
    return fields;
  }
  void add_to(nn::Sequential& net) const override { net.add(nn::GroupNorm(groups, options)); }
};

struct BasicBlock : LayerPart {
  int64_t channels = 0;
  nn::ResidualBlockOptions options;

  Fields fields() override {
    return {{"channels", &channels, "of the output", 1},
            {"stride", &options.stride, "of the first convolution; above 1 projects", 1},
            {"projection", &options.projection,
             "a 1 x 1 convolution on the shortcut, as another number of channels needs"}};
  }
  void add_to(nn::Sequential& net) const override { net.add(nn::basic_block(channels, options)); }
};

constexpr Kind kKinds[] = {
    {"dense", "activation(x W^T + b) on the last axis.", make_part<Dense>},
    {"conv1d", "Convolution over one axis, channels second.", make_part<Conv<nn::Conv1D>>},
    {"conv2d", "Convolution over two axes, channels second.", make_part<Conv<nn::Conv2D>>},
    {"conv3d", "Convolution over three axes, channels second.", make_part<Conv<nn::Conv3D>>},
    {"conv_transpose1d", "The reverse of conv1d: makes its input larger.",
     make_part<ConvTranspose<nn::ConvTranspose1D>>},
    {"conv_transpose2d", "The reverse of conv2d.", make_part<ConvTranspose<nn::ConvTranspose2D>>},
    {"conv_transpose3d", "The reverse of conv3d.", make_part<ConvTranspose<nn::ConvTranspose3D>>},
    {"max_pool1d", "The largest of each window.", make_part<MaxPool<nn::MaxPool1D>>},
    {"max_pool2d", "The largest of each window.", make_part<MaxPool<nn::MaxPool2D>>},
    {"max_pool3d", "The largest of each window.", make_part<MaxPool<nn::MaxPool3D>>},
    {"avg_pool1d", "The mean of each window.", make_part<AvgPool<nn::AvgPool1D>>},
    {"avg_pool2d", "The mean of each window.", make_part<AvgPool<nn::AvgPool2D>>},
    {"avg_pool3d", "The mean of each window.", make_part<AvgPool<nn::AvgPool3D>>},
    {"global_max_pool1d", "The largest of each channel.", make_part<Plain<nn::GlobalMaxPool1D>>},
    {"global_max_pool2d", "The largest of each channel.", make_part<Plain<nn::GlobalMaxPool2D>>},
    {"global_max_pool3d", "The largest of each channel.", make_part<Plain<nn::GlobalMaxPool3D>>},
    {"global_avg_pool1d", "The mean of each channel.", make_part<Plain<nn::GlobalAvgPool1D>>},
    {"global_avg_pool2d", "The mean of each channel.", make_part<Plain<nn::GlobalAvgPool2D>>},
    {"global_avg_pool3d", "The mean of each channel.", make_part<Plain<nn::GlobalAvgPool3D>>},
    {"batch_norm", "Each channel over the batch (Ioffe and Szegedy 2015).", make_part<BatchNorm>},
    {"layer_norm", "The last axes of each sample (Ba et al. 2016).", make_part<LayerNorm>},
    {"group_norm", "Groups of channels of each sample (Wu and He 2018).", make_part<GroupNorm>},
    {"embedding", "A learned row for each word: [N, T] -> [N, T, units].", make_part<Embedding>},
    {"lstm", "Long short-term memory over sequences [N, T, C].", make_part<Recurrent<nn::LSTM>>},
    {"gru", "Gated recurrent units over sequences [N, T, C].", make_part<Recurrent<nn::GRU>>},
    {"rnn", "Elman's recurrent net, with tanh, over sequences [N, T, C].",
     make_part<Recurrent<nn::RNN>>},
    {"positional_embedding", "Adds a learned vector for each position.", make_positional_embedding},
    {"transformer_block", "Attention and two dense layers, each after a norm and with a short cut.",
     make_transformer_block},
    {"basic_block", "Two 3 x 3 convolutions beside a shortcut (He et al. 2016).",
     make_part<BasicBlock>},
    {"flatten", "Joins all axes but the first.", make_part<Plain<nn::Flatten>>},
    {"dropout", "Sets elements to 0 at random in training (Srivastava et al. 2014).",
     make_part<Dropout>},
    {"activation", "A function on each element.", make_part<Activation>},
    {"leaky_relu", "x where positive, else slope x.", make_part<LeakyRelu>},
};

}  // namespace

std::span<const Kind> layer_kinds() { return kKinds; }

}  // namespace thalweg::cli
