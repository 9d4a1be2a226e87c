#include <filesystem>
#include <mutex>
#include <set>

#include <thalweg/base/checksum.h>
#include <thalweg/base/file.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/model/exported.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "model/form_text.h"
#include "model/imported_run.h"

namespace thalweg::model {

class ImportedModel::State {
 public:
  State(Form read, const std::string& path) : form(std::move(read)), path_(path) {
    checked_.insert(form.batch);
    for (const FormLayer& layer : form.layers) {
      ImportedPart& part = root->at(layer.path);
      part.describe_as(layer.type, layer.text);
      parts_.push_back(std::shared_ptr<ImportedPart>(root, &part));
    }
    for (FormTensor& tensor : form.tensors) add_tensor(tensor);
    prediction_ = std::make_unique<ImportedGraph>(form, form.prediction, parts_);
    if (form.training) training_ = std::make_unique<ImportedGraph>(form, *form.training, parts_);
  }

  std::vector<Tensor> run(std::span<const Tensor> arguments) {
    const int64_t n = batch_of(arguments);
    std::vector<Tensor> given;
    for (size_t i = 0; i < arguments.size(); ++i) {
      check_argument(arguments, i, n);
      given.push_back(contiguous(arguments[i]));
    }
    check_batch(n);
    const ImportedGraph& graph = is_training() && training_ ? *training_ : *prediction_;
    return graph.run(given, tensors(n, given[0].device()), n);
  }

  Form form;
  std::shared_ptr<ImportedPart> root = std::make_shared<ImportedPart>("ImportedModel", "");

 private:
  void add_tensor(FormTensor& tensor) {
    if (tensor.kind == FormTensor::Kind::constant || tensor.kind == FormTensor::Kind::fill) {
      parameters_.emplace_back();
      return;
    }
    const size_t dot = tensor.name.rfind('.');
    const bool nested = dot != tensor.name.npos;
    nn::Parameter parameter(
        tensor.data.shape(),
        {.dtype = tensor.meta.dtype, .differentiable = tensor.kind == FormTensor::Kind::parameter});
    parameter.set_data(tensor.data, tensor.name);
    root->at(nested ? std::string_view(tensor.name).substr(0, dot) : "")
        .add_parameter(nested ? tensor.name.substr(dot + 1) : tensor.name, parameter);
    parameters_.push_back(parameter);
    tensor.data = Tensor();
  }

  // The size of the first argument that follows the batch.
  int64_t batch_of(std::span<const Tensor> arguments) const {
    if (arguments.size() != form.inputs.size()) {
      fail_invalid("model: {} arguments; it takes {}", arguments.size(), form.inputs.size());
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Sizes& sizes = form.inputs[i].shape;
      if (!arguments[i].defined()) fail_invalid("model: argument {} is an undefined tensor", i);
      for (size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d].factor != 0 && arguments[i].dims() == static_cast<int64_t>(sizes.size()))
          return (arguments[i].size(static_cast<int64_t>(d)) - sizes[d].plus) / sizes[d].factor;
      }
    }
    return form.batch;
  }

  void check_argument(std::span<const Tensor> arguments, size_t i, int64_t n) const {
    const FormMeta& meta = form.inputs[i];
    if (arguments[i].dtype() == meta.dtype &&
        arguments[i].shape() == shape_at(meta.shape, n, "model"))
      return;
    std::string expected;
    for (const Size& size : meta.shape)
      expected += (expected.empty() ? "" : ", ") + size_text(size);
    fail_invalid(
        "model: argument {} is {} {}; expected {} [{}]{}", i, name(arguments[i].dtype()),
        to_string(arguments[i].shape()), name(meta.dtype), expected,
        form.fixed_batch.empty() ? "" : "; no other batch is possible: " + form.fixed_batch);
  }

  // What was checked for the example's size is checked for this one.
  void check_batch(int64_t n) {
    const std::lock_guard lock(mutex_);
    if (checked_.count(n)) return;
    check_graph(form, form.prediction, n, "model: prediction");
    if (form.training) check_graph(form, *form.training, n, "model: training");
    constexpr size_t kMostKept = 1024;
    if (checked_.size() < kMostKept) checked_.insert(n);
  }

  std::vector<Tensor> tensors(int64_t n, Device device) const {
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < form.tensors.size(); ++i) {
      const FormTensor& tensor = form.tensors[i];
      if (parameters_[i].defined()) {
        tensors.push_back(parameters_[i].data());
      } else if (tensor.kind == FormTensor::Kind::constant) {
        tensors.push_back(tensor.data.to(device));
      } else {
        tensors.push_back(Tensor::full(shape_at(tensor.meta.shape, n, "model"), tensor.fill,
                                       {tensor.meta.dtype, device}));
      }
    }
    return tensors;
  }

  std::string path_;
  std::vector<std::shared_ptr<ImportedPart>> parts_;
  std::vector<nn::Parameter> parameters_;  // of each tensor; absent for constants
  std::unique_ptr<ImportedGraph> prediction_, training_;
  std::mutex mutex_;
  std::set<int64_t> checked_;
};

std::vector<Tensor> ImportedModel::call(std::span<const Tensor> arguments) {
  return state_->run(arguments);
}

Tensor ImportedModel::forward(const Tensor& x) {
  if (inputs() != 1 || results() != 1) {
    fail_invalid("model: it takes {} arguments and gives {} results; use call()", inputs(),
                 results());
  }
  return std::move(state_->run(std::span(&x, 1))[0]);
}

bool ImportedModel::any_batch() const { return state_->form.fixed_batch.empty(); }
size_t ImportedModel::inputs() const { return state_->form.inputs.size(); }
size_t ImportedModel::results() const { return state_->form.prediction.results.size(); }

Shape ImportedModel::input_shape(size_t i, int64_t batch) const {
  if (i >= inputs()) fail_invalid("model: there is no argument {}; it takes {}", i, inputs());
  return shape_at(state_->form.inputs[i].shape, batch > 0 ? batch : state_->form.batch, "model");
}

DType ImportedModel::input_dtype(size_t i) const {
  if (i >= inputs()) fail_invalid("model: there is no argument {}; it takes {}", i, inputs());
  return state_->form.inputs[i].dtype;
}

void ImportedModel::members(nn::Members& m) { state_->root->members(m); }
std::string ImportedModel::type_name() const { return state_->root->type_name(); }
std::string ImportedModel::describe() { return state_->root->describe(); }

ImportedModel import_model(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path json = fs::is_directory(path) ? fs::path(path) / kModelJson : fs::path(path);
  uint32_t checksum = 0;
  Form form = read_form(read_file(json.string(), kMaxModelJson), json.string(), checksum);
  const std::string weights_path = (json.parent_path() / kModelWeights).string();
  if (crc32c(MappedFile(weights_path).bytes()) != checksum) {
    fail_io("import_model: {} does not belong to {}; weights.crc32c: expected {}, found another",
            weights_path, json.string(), checksum);
  }
  const SafetensorsFile weights(weights_path);
  for (FormTensor& tensor : form.tensors) {
    if (tensor.kind == FormTensor::Kind::fill) continue;
    const TensorEntry* entry = weights.find(tensor.name);
    const Shape shape = shape_at(tensor.meta.shape, form.batch, "import_model");
    if (!entry || entry->dtype != tensor.meta.dtype || entry->shape != shape) {
      fail_io("import_model: {}: '{}': expected {} {}, found {}", weights_path, tensor.name,
              name(tensor.meta.dtype), to_string(shape),
              entry ? fmt::format("{} {}", name(entry->dtype), to_string(entry->shape)) : "none");
    }
    tensor.data = weights.read(*entry);
  }
  try {
    check_graph(form, form.prediction, form.batch, "prediction");
    if (form.training) check_graph(form, *form.training, form.batch, "training");
  } catch (const Error& error) {
    fail_io("import_model: {} is damaged; {}", json.string(), error.what());
  }
  return ImportedModel(std::make_shared<ImportedModel::State>(std::move(form), json.string()));
}

}  // namespace thalweg::model
