#include <thalweg/nn/recurrent.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "nn/describe.h"

namespace thalweg::nn {
namespace {

const char* layer_name(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? "LSTM" : cell == RecurrentCell::gru ? "GRU" : "RNN";
}

RecurrentCell elman_cell(const char* layer, ActivationFunction activation) {
  const std::string_view name = activation.name;
  if (name == "tanh") return RecurrentCell::tanh;
  if (name == "relu") return RecurrentCell::relu;
  fail_invalid("{}: no activation {}; it is tanh or relu", layer, name);
}

RecurrentLayerOptions layer_options(const RecurrentCellOptions& o) {
  return {.bias = o.bias,
          .in_units = o.in_units,
          .input_init = o.input_init,
          .state_init = o.state_init,
          .bias_init = o.bias_init,
          .dtype = o.dtype};
}

// State `index` of [layers * directions, B, units].
Tensor state_of(const Tensor& states, int64_t index) {
  return states.defined() ? squeeze(slice(states, 0, index, index + 1), {0}) : Tensor();
}

// Times up to the last with an input that is not 0, which are those where the sum from the end is
// not 0.
Tensor unpadded_lengths(const Tensor& x, bool time_first) {
  const Tensor input = x.detach();
  const Tensor used = any(input != 0, {2}).to(DType::i64);  // [B, T] or [T, B]
  const int64_t axis = time_first ? 0 : 1;
  return sum(flip(cumsum(flip(used, {axis}), axis), {axis}) > 0, {axis});
}

std::string cell_text(RecurrentWeights& w, RecurrentCell cell) {
  return fmt::format("{} -> {}{}{}", size_text(w.weight_ih.shape()[1]), w.weight_hh.shape()[1],
                     cell == RecurrentCell::relu ? ", Activation(relu)" : "",
                     w.bias_ih.defined() ? "" : ", bias=false");
}

}  // namespace

RecurrentWeights::RecurrentWeights(RecurrentCell cell, int64_t units, int64_t in_units,
                                   const RecurrentLayerOptions& o) {
  const int64_t wide = gate_count(cell) * units;
  weight_ih = Parameter({wide, in_units}, {.init = o.input_init, .dtype = o.dtype});
  weight_hh = Parameter({wide, units}, {.init = o.state_init, .dtype = o.dtype});
  if (!o.bias) return;
  bias_ih = Parameter({wide}, {.init = o.bias_init, .dtype = o.dtype});
  bias_hh = Parameter({wide}, {.init = o.bias_init, .dtype = o.dtype});
}

void RecurrentWeights::members(Members& m, const std::string& suffix) {
  m("weight_ih" + suffix, weight_ih)("weight_hh" + suffix, weight_hh);
  m("bias_ih" + suffix, bias_ih)("bias_hh" + suffix, bias_hh);
}

RecurrentResult RecurrentWeights::run(RecurrentCell cell, const Tensor& x, RecurrentOptions options,
                                      bool time_first) {
  if (!weight_ih.has_data()) [[unlikely]]
    weight_ih.infer_shape({weight_ih.shape()[0], x.size(-1)});
  // A GRU's reset gate comes between the two biases. Else they are one, added with the states' part
  // of the gates.
  Tensor bias;
  if (bias_ih.defined()) {
    const bool apart = cell == RecurrentCell::gru;
    if (apart) bias = bias_ih.data();
    options.bias = apart ? bias_hh.data() : bias_ih.data() + bias_hh.data();
  }
  const Tensor gates = linear(x, weight_ih.data(), bias);
  if (!time_first) return recurrent(cell, gates, weight_hh.data(), options);
  RecurrentResult result = recurrent(cell, transpose(gates, 0, 1), weight_hh.data(), options);
  result.y = transpose(result.y, 0, 1);
  return result;
}

RecurrentLayer::RecurrentLayer(RecurrentCell cell, int64_t units, RecurrentLayerOptions options)
    : cell_(cell), units_(units), options_(std::move(options)) {
  const char* const layer = layer_name(cell);
  if (units < 1) fail_invalid("{}: units must be positive; {}", layer, units);
  if (options_.layers < 1) fail_invalid("{}: layers must be positive; {}", layer, options_.layers);
  if (options_.in_units < 0)
    fail_invalid("{}: in_units must not be negative; {}", layer, options_.in_units);
  if (!(options_.dropout >= 0 && options_.dropout < 1))
    fail_invalid("{}: dropout must be in [0, 1); {}", layer, options_.dropout);
  for (int64_t i = 0; i < options_.layers * directions(); ++i) {
    const int64_t in = i < directions() ? options_.in_units : directions() * units;
    weights_.emplace_back(cell, units, in, options_);
  }
}

RecurrentWeights& RecurrentLayer::weights(int64_t layer, int64_t direction) {
  if (layer < 0 || layer >= options_.layers || direction < 0 || direction >= directions()) {
    fail_invalid("{}: no layer {}, direction {}; it has {} layers and {} directions", type_name(),
                 layer, direction, options_.layers, directions());
  }
  return weights_[static_cast<size_t>(layer * directions() + direction)];
}

void RecurrentLayer::members(Members& m) {
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    for (int64_t direction = 0; direction < directions(); ++direction) {
      weights(layer, direction)
          .members(m, fmt::format("_l{}{}", layer, direction ? "_reverse" : ""));
    }
  }
}

std::string RecurrentLayer::describe() {
  std::string text = cell_text(weights_[0], cell_);
  if (options_.layers > 1) text += fmt::format(", layers={}", options_.layers);
  if (options_.bidirectional) text += ", bidirectional=true";
  if (options_.dropout > 0) text += fmt::format(", dropout={}", options_.dropout);
  if (options_.time_first) text += ", time_first=true";
  if (options_.zero_padding) text += ", zero_padding=true";
  return fmt::format("{}({})", type_name(), text);
}

void RecurrentLayer::check(const Tensor& x, const RecurrentInputs& inputs) const {
  const char* const axes = options_.time_first ? "[T, B, in_units]" : "[B, T, in_units]";
  if (x.dims() != 3) {
    fail_invalid("{}: input of shape {}; expected {}", layer_name(cell_), to_string(x.shape()),
                 axes);
  }
  const Shape expected{options_.layers * directions(), x.size(options_.time_first ? 1 : 0), units_};
  for (const Tensor* state : {&inputs.states.h, &inputs.states.c}) {
    if (!state->defined() || state->shape() == expected) continue;
    fail_invalid("{}: states of shape {}; expected [layers * directions, B, units] = {}",
                 layer_name(cell_), to_string(state->shape()), to_string(expected));
  }
}

Tensor RecurrentLayer::run_layers(Tensor x, const RecurrentInputs& inputs,
                                  std::vector<RecurrentResult>* states) {
  check(x, inputs);
  const bool finds_lengths = options_.zero_padding && !inputs.lengths.defined();
  const Tensor lengths = finds_lengths ? unpadded_lengths(x, options_.time_first) : inputs.lengths;
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    if (layer > 0 && options_.dropout > 0) x = dropout(x, options_.dropout);
    std::vector<Tensor> parts;
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const int64_t index = layer * directions() + direction;
      RecurrentResult result = weights(layer, direction)
                                   .run(cell_, x,
                                        {.h0 = state_of(inputs.states.h, index),
                                         .c0 = state_of(inputs.states.c, index),
                                         .lengths = lengths,
                                         .reverse = direction == 1},
                                        options_.time_first);
      parts.push_back(result.y);
      if (states) states->push_back(std::move(result));
    }
    x = parts.size() == 1 ? parts[0] : concat(parts, -1);
  }
  return x;
}

Tensor RecurrentLayer::forward(const Tensor& x) { return run_layers(x, {}, nullptr); }

RecurrentOutputs RecurrentLayer::operator()(const Tensor& x, const RecurrentInputs& inputs) {
  std::vector<RecurrentResult> states;
  RecurrentOutputs out;
  out.y = run([&] { return run_layers(x, inputs, &states); }, x);
  std::vector<Tensor> h, c;
  for (const RecurrentResult& s : states) {
    h.push_back(s.h);
    c.push_back(s.c);
  }
  out.states.h = stack(h, 0);
  if (cell_ == RecurrentCell::lstm) out.states.c = stack(c, 0);
  return out;
}

LSTM::LSTM(int64_t units, RecurrentLayerOptions options)
    : RecurrentLayer(RecurrentCell::lstm, units, std::move(options)) {}

GRU::GRU(int64_t units, RecurrentLayerOptions options)
    : RecurrentLayer(RecurrentCell::gru, units, std::move(options)) {}

RNN::RNN(int64_t units, RecurrentLayerOptions options, ActivationFunction activation)
    : RecurrentLayer(elman_cell("RNN", activation), units, std::move(options)) {}

RecurrentCellModule::RecurrentCellModule(RecurrentCell cell, int64_t units,
                                         const RecurrentCellOptions& options)
    : weights(cell, units, options.in_units, layer_options(options)), cell_(cell) {
  if (units < 1) fail_invalid("{}Cell: units must be positive; {}", layer_name(cell), units);
}

std::string RecurrentCellModule::describe() {
  return fmt::format("{}({})", type_name(), cell_text(weights, cell_));
}

RecurrentStates RecurrentCellModule::step(const Tensor& x, const RecurrentStates& states) {
  if (x.dims() != 2) {
    fail_invalid("{}: input of shape {}; expected [B, in_units]", type_name(),
                 to_string(x.shape()));
  }
  const RecurrentResult result =
      weights.run(cell_, expand_dims(x, 1), {.h0 = states.h, .c0 = states.c}, false);
  return {result.h, cell_ == RecurrentCell::lstm ? result.c : Tensor()};
}

Tensor RecurrentCellModule::forward(const Tensor& x) { return step(x, {}).h; }

RecurrentStates RecurrentCellModule::operator()(const Tensor& x, const RecurrentStates& states) {
  RecurrentStates next;
  next.h = run(
      [&] {
        next = step(x, states);
        return next.h;
      },
      x);
  return next;
}

RNNCell::RNNCell(int64_t units, RecurrentCellOptions options, ActivationFunction activation)
    : RecurrentCellModule(elman_cell("RNNCell", activation), units, options) {}

}  // namespace thalweg::nn
