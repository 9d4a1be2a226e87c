#include <filesystem>

#include <thalweg/base/checksum.h>
#include <thalweg/base/file.h>
#include <thalweg/base/log.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/model/exported.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "base/fail.h"
#include "model/form_of.h"
#include "model/form_text.h"
#include "nn/visit.h"

namespace thalweg::model {
namespace {

// The function is run on the example's batch, and on so many samples more.
constexpr int64_t kMoreSamples[] = {0, 1, 3};

bool follows_batch(const Tensor& example, int64_t axis, int64_t batch) {
  return axis >= 0 && axis < example.dims() && example.size(axis) == batch;
}

// The example with its first sample once more, so many times.
Tensor enlarged(const Tensor& example, int64_t axis, int64_t more) {
  std::vector<Tensor> parts{example};
  for (int64_t i = 0; i < more; ++i) parts.push_back(slice(example, axis, 0, 1));
  return contiguous(concat(parts, axis));
}

class Exporter {
 public:
  Exporter(nn::Module& net, ModelFunction function, std::span<const Tensor> examples,
           const ExportOptions& options)
      : net_(net), function_(function) {
    if (examples.empty()) fail_invalid("export_model: there is no example");
    for (const Tensor& example : examples) {
      if (!example.defined()) fail_invalid("export_model: an example is an undefined tensor");
      examples_.push_back(contiguous(example).detach());
    }
    form_.batch_axis = options.batch_axis;
    const Tensor& first = examples_[0];
    if (options.batch_axis < -1 || options.batch_axis >= std::max<int64_t>(first.dims(), 1)) {
      fail_invalid("export_model: batch_axis is {} and the example {}; it is from -1 to {}",
                   options.batch_axis, to_string(first.shape()), first.dims() - 1);
    }
    if (options.batch_axis < 0 || first.dims() == 0) {
      form_.batch_axis = -1;
      form_.fixed_batch = "it was exported without a batch axis";
    } else {
      form_.batch = first.size(options.batch_axis);
      if (form_.batch == 0) fail_invalid("export_model: the example is an empty batch");
    }
  }

  Form make() {
    function_(examples_);  // unknown sizes become known
    parameters_ = net_.parameters();
    const LayerIndex layers(&net_);
    add_layers();
    Recordings prediction = record(layers, false), training = record(layers, true);
    for (const Recordings* r : {&prediction, &training}) {
      if (form_.fixed_batch.empty()) form_.fixed_batch = disagreement(*r);
    }
    if (!form_.fixed_batch.empty()) {
      for (Recordings* r : {&prediction, &training}) {
        r->batches.resize(1);
        r->graphs.erase(r->graphs.begin() + 1, r->graphs.end());
      }
    }
    for (const Tensor& example : examples_) form_.inputs.push_back(input_meta(example));
    add_parameters();
    const size_t first = form_.tensors.size();
    add_constants(form_, prediction);
    const Recordings modes{{1, 1}, {prediction.graphs[0], training.graphs[0]}};
    const bool trains_alike = disagreement(modes).empty();
    const size_t second = form_.tensors.size();
    if (!trains_alike) add_constants(form_, training);
    form_.prediction = graph_of(form_, prediction, first);
    if (!trains_alike) form_.training = graph_of(form_, training, second);
    return std::move(form_);
  }

 private:
  Recordings record(const LayerIndex& layers, bool training) {
    Recordings recordings;
    for (const int64_t more : kMoreSamples) {
      if (more > 0 && !form_.fixed_batch.empty()) break;
      std::vector<Tensor> arguments;
      for (const Tensor& example : examples_) {
        const bool grows = more > 0 && follows_batch(example, form_.batch_axis, form_.batch);
        arguments.push_back(grows ? enlarged(example, form_.batch_axis, more) : example);
      }
      try {
        recordings.graphs.push_back(
            record_function(function_, arguments, parameters_, layers, training));
      } catch (const Error& error) {
        if (more == 0) throw;
        form_.fixed_batch =
            fmt::format("it fails for a batch of {}: {}", form_.batch + more, error.what());
        break;
      }
      recordings.batches.push_back(form_.batch + more);
    }
    return recordings;
  }

  FormMeta input_meta(const Tensor& example) const {
    FormMeta meta{example.dtype(), {}};
    const bool follows =
        form_.fixed_batch.empty() && follows_batch(example, form_.batch_axis, form_.batch);
    for (int64_t i = 0; i < example.dims(); ++i) {
      const bool is_batch = follows && i == form_.batch_axis;
      meta.shape.push_back(is_batch ? Size{1, 0} : Size{0, example.size(i)});
    }
    return meta;
  }

  void add_parameters() {
    for (const nn::NamedParameter& item : parameters_) {
      const Tensor& data = item.parameter.data();
      FormTensor& tensor = form_.tensors.emplace_back();
      tensor.kind =
          item.parameter.differentiable() ? FormTensor::Kind::parameter : FormTensor::Kind::state;
      tensor.name = item.name;
      tensor.meta.dtype = data.dtype();
      for (const int64_t size : data.shape()) tensor.meta.shape.push_back({0, size});
      tensor.data = data;
    }
  }

  void add_layers() {
    net_.walk([&](const std::string& path, nn::Module& module) {
      bool has_children = false;
      nn::visit_children(module, [&](std::string_view, nn::Module&) { has_children = true; });
      form_.layers.push_back({path, module.type_name(), has_children ? "" : module.describe()});
    });
  }

  nn::Module& net_;
  ModelFunction function_;
  std::vector<Tensor> examples_;
  nn::ParameterList parameters_;
  Form form_;
};

}  // namespace

void export_model(const std::string& folder, nn::Module& net, ExportedFunction function,
                  std::span<const Tensor> examples, const ExportOptions& options) {
  const Pause pause;
  const Form form = Exporter(net, function, examples, options).make();
  if (!form.fixed_batch.empty() && options.batch_axis >= 0) {
    log(LogLevel::warn, fmt::format("export_model: the model takes a batch of {} alone; {}",
                                    form.batch, form.fixed_batch));
  }
  NamedTensors tensors;
  for (const FormTensor& tensor : form.tensors) {
    if (tensor.kind != FormTensor::Kind::fill) tensors.emplace(tensor.name, tensor.data);
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_io("export_model: cannot make the folder {}; {}", folder, error.message());
  const std::filesystem::path path(folder);
  const std::string weights = (path / kModelWeights).string();
  save_safetensors(weights, tensors, options.metadata);
  const uint32_t checksum = crc32c(MappedFile(weights).bytes());
  write_file((path / kModelJson).string(), write_form(form, checksum));
}

void export_model(const std::string& folder, nn::Module& net, const Tensor& example,
                  const ExportOptions& options) {
  const auto function = [&](std::span<const Tensor> x) { return std::vector<Tensor>{net(x[0])}; };
  export_model(folder, net, function, std::span(&example, 1), options);
}

bool is_exported_model(const std::string& path) {
  return std::filesystem::is_regular_file(std::filesystem::path(path) / kModelJson);
}

}  // namespace thalweg::model
