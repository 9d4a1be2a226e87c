#pragma once

// Recurrent layers: LSTM, GRU and RNN over whole sequences, and their cells for one time.
//
//   tw::nn::LSTM lstm(300, {.layers = 2, .bidirectional = true});
//   tw::Tensor y = lstm(x);                                      // [B, T, C] -> [B, T, 600]
//   auto [z, states] = lstm(x, {.lengths = n, .states = states}); // padded sequences, carried on
//
// Names, shapes and the order of gates are PyTorch's, so that its weights can be loaded: i, f, g, o
// of an LSTM (input, forget, candidate, output), r, z, n of a GRU (reset, update, candidate).

#include <string>
#include <vector>

#include <thalweg/nn/activation.h>
#include <thalweg/nn/module.h>
#include <thalweg/ops/recurrent.h>

namespace thalweg::nn {

struct RecurrentLayerOptions {
  int64_t layers = 1;          ///< on top of each other
  bool bidirectional = false;  ///< a second direction from the end; y has both, side by side
  double dropout = 0;          ///< while training, of what goes from a layer to the next
  bool time_first = false;     ///< x [T, B, C] and y [T, B, ...]; else [B, T, ...]
  /// Times at the end of which all inputs are 0 are padding, where no lengths are given.
  bool zero_padding = false;
  bool bias = true;
  int64_t in_units = 0;  ///< C; 0: learned at the first call
  init::Initializer input_init = {};
  init::Initializer state_init = {};
  init::Initializer bias_init = init::zero();
  DType dtype = DType::f32;
};

/// Each [layers * directions, B, units], layer by layer and forwards first; c of an LSTM only.
/// Undefined ones given to a layer are zeros.
struct RecurrentStates {
  Tensor h = {};
  Tensor c = {};
};

struct RecurrentInputs {
  Tensor lengths = {};  ///< [B] integers, 0 to T: any finite padding behind them is the same
  RecurrentStates states = {};
};

struct RecurrentOutputs {
  Tensor y;  ///< of the last layer at all times; 0 behind the lengths
  RecurrentStates states;
};

/// The weights of one cell: weight_ih [G units, in], weight_hh [G units, units], biases [G units],
/// with G gates. A GRU multiplies by its reset gate after bias_hh was added.
struct RecurrentWeights {
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;

  RecurrentWeights(RecurrentCell cell, int64_t units, int64_t in_units,
                   const RecurrentLayerOptions& options);
  /// Lists them, their names followed by `suffix`.
  void members(Members& m, const std::string& suffix);
  /// x [B, T, in], or [T, B, in] with `time_first`, and so y.
  RecurrentResult run(RecurrentCell cell, const Tensor& x, RecurrentOptions options,
                      bool time_first);
};

/// What LSTM, GRU and RNN share. Called with x alone it begins with zeros and gives y. Parameters
/// weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, those of the reverse direction with _reverse
/// behind, and so on for l1, ...
class THALWEG_API RecurrentLayer : public Module {
 public:
  using Module::operator();
  RecurrentOutputs operator()(const Tensor& x, const RecurrentInputs& inputs);

  int64_t units() const { return units_; }
  /// Of layer i and direction 0 (forwards) or 1.
  RecurrentWeights& weights(int64_t layer, int64_t direction = 0);

  void members(Members& m) override;
  std::string describe() override;

 protected:
  RecurrentLayer(RecurrentCell cell, int64_t units, RecurrentLayerOptions options);
  Tensor forward(const Tensor& x) override;

 private:
  int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  Tensor run_layers(Tensor x, const RecurrentInputs& inputs, std::vector<RecurrentResult>* states);
  void check(const Tensor& x, const RecurrentInputs& inputs) const;

  RecurrentCell cell_;
  int64_t units_;
  RecurrentLayerOptions options_;
  std::vector<RecurrentWeights> weights_;
};

/// Long short-term memory (Hochreiter and Schmidhuber 1997, with forget gates, Gers et al. 2000):
/// c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c').
class THALWEG_API LSTM : public RecurrentLayer {
 public:
  explicit LSTM(int64_t units, RecurrentLayerOptions options = {});
  std::string type_name() const override { return "LSTM"; }
};

/// Gated recurrent unit (Cho et al. 2014): h' = (1 - z) n + z h with n = tanh(W x + b + r (U h +
/// c)), as PyTorch and cuDNN have it.
class THALWEG_API GRU : public RecurrentLayer {
 public:
  explicit GRU(int64_t units, RecurrentLayerOptions options = {});
  std::string type_name() const override { return "GRU"; }
};

/// h' = activation(W x + b + U h + c) (Elman 1990); tanh or relu. Throws Error{invalid} for others.
class THALWEG_API RNN : public RecurrentLayer {
 public:
  explicit RNN(int64_t units, RecurrentLayerOptions options = {},
               ActivationFunction activation = nn::tanh);
  std::string type_name() const override { return "RNN"; }
};

struct RecurrentCellOptions {
  bool bias = true;
  int64_t in_units = 0;  ///< 0: learned at the first call
  init::Initializer input_init = {};
  init::Initializer state_init = {};
  init::Initializer bias_init = init::zero();
  DType dtype = DType::f32;
};

/// One time of one layer: x [B, in] and the states, h and c [B, units], to the next states. Called
/// with x alone it begins with zeros and gives h. Parameters weight_ih, weight_hh, bias_ih,
/// bias_hh.
class THALWEG_API RecurrentCellModule : public Module {
 public:
  using Module::operator();
  RecurrentStates operator()(const Tensor& x, const RecurrentStates& states);

  RecurrentWeights weights;

  void members(Members& m) override { weights.members(m, ""); }
  std::string describe() override;

 protected:
  RecurrentCellModule(RecurrentCell cell, int64_t units, const RecurrentCellOptions& options);
  Tensor forward(const Tensor& x) override;

 private:
  RecurrentStates step(const Tensor& x, const RecurrentStates& states);

  RecurrentCell cell_;
};

class THALWEG_API LSTMCell : public RecurrentCellModule {
 public:
  explicit LSTMCell(int64_t units, RecurrentCellOptions options = {})
      : RecurrentCellModule(RecurrentCell::lstm, units, options) {}
  std::string type_name() const override { return "LSTMCell"; }
};

class THALWEG_API GRUCell : public RecurrentCellModule {
 public:
  explicit GRUCell(int64_t units, RecurrentCellOptions options = {})
      : RecurrentCellModule(RecurrentCell::gru, units, options) {}
  std::string type_name() const override { return "GRUCell"; }
};

class THALWEG_API RNNCell : public RecurrentCellModule {
 public:
  explicit RNNCell(int64_t units, RecurrentCellOptions options = {},
                   ActivationFunction activation = nn::tanh);
  std::string type_name() const override { return "RNNCell"; }
};

}  // namespace thalweg::nn
