#pragma once

// Models as records: a folder with what a net does, op by op, and its weights. It runs and trains
// without the code that made it.
//
//   tw::export_model("digits", net, Tensor::zeros({32, 784}));
//   ...
//   tw::model::ImportedModel net = tw::import_model("digits");
//   tw::Tensor y = net(x);                        // of any batch size
//   tw::train::Trainer trainer(net.parameters(), ...);
//
// The folder holds model.json and model.safetensors; docs/formats/model.md describes them.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <thalweg/base/function_ref.h>
#include <thalweg/model/safetensors.h>
#include <thalweg/nn/module.h>

namespace thalweg::model {

struct ExportOptions {
  /// The axis of the example along which samples lie; -1: the model is for this size alone. The
  /// function is run on a few sizes, and what follows the size is kept as such.
  int64_t batch_axis = 0;
  /// Free text, kept with the weights.
  Metadata metadata = {};
};

/// Writes what the net does with a tensor of this shape and dtype, in prediction and in training
/// mode, into a folder that is made if need be. Neither the net nor random numbers change. Throws
/// Error{invalid}, naming the layer, for what records cannot say: a function that looks at elements
/// on the host, a function with a gradient of its own, hooks, tensors changed in place.
THALWEG_API void export_model(const std::string& folder, nn::Module& net, const Tensor& example,
                              const ExportOptions& options = {});

/// A function of tensors, and what it gives back.
using ExportedFunction = FunctionRef<std::vector<Tensor>(std::span<const Tensor>)>;

/// The same of any function of tensors, whose parameters are the net's: of several arguments or
/// results, for example. Examples whose size along the batch axis is that of the first one vary
/// with it.
THALWEG_API void export_model(const std::string& folder, nn::Module& net, ExportedFunction function,
                              std::span<const Tensor> examples, const ExportOptions& options = {});

/// A model from a folder. Its parameters have the names they had in the net that was exported, and
/// it is printed as that was. Copies share their parameters.
class THALWEG_API ImportedModel : public nn::Module {
 public:
  /// Runs a model of any number of arguments and results. Throws Error{invalid} for arguments of
  /// other dtypes or shapes than the model takes.
  std::vector<Tensor> call(std::span<const Tensor> arguments);

  /// True if it takes other batch sizes than the example's.
  bool any_batch() const;
  size_t inputs() const;
  size_t results() const;
  /// The shape of an argument for a batch of this size, by default the example's.
  Shape input_shape(size_t i = 0, int64_t batch = 0) const;
  DType input_dtype(size_t i = 0) const;

  void members(nn::Members& m) override;
  std::string type_name() const override;
  std::string describe() override;

 protected:
  /// For a model of one argument and one result.
  Tensor forward(const Tensor& x) override;

 private:
  class State;
  friend THALWEG_API ImportedModel import_model(const std::string& path);
  explicit ImportedModel(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

/// Reads a model from its folder, or from its model.json. Everything is checked before it runs.
/// Throws Error{io} for files that are damaged, newer or do not belong together: which field, what
/// was expected, what was found.
THALWEG_API ImportedModel import_model(const std::string& path);

/// True for a folder with a model.json.
THALWEG_API bool is_exported_model(const std::string& path);

}  // namespace thalweg::model

namespace thalweg {
using model::export_model;
using model::import_model;
}  // namespace thalweg
