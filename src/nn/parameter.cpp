#include <thalweg/base/philox.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/nn/parameter.h>

#include "base/fail.h"

namespace thalweg::nn {
namespace {

// FNV-1a: a number for a name that is the same on every machine.
uint64_t hash_name(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

const char* shown(const std::string& name) { return name.empty() ? "parameter" : name.c_str(); }

}  // namespace

Parameter::Parameter(const Shape& shape, ParameterOptions options)
    : state_(std::make_shared<State>()) {
  for (int64_t size : shape) {
    if (size < 0) fail_invalid("Parameter: shape {} has a negative size", to_string(shape));
  }
  state_->shape = shape;
  state_->options = std::move(options);
  if (!is_floating(dtype())) state_->options.differentiable = false;
  if (!differentiable()) state_->options.grad_req = GradReq::null;
}

void Parameter::throw_no_data() const {
  if (state_->pending) {
    fail_invalid(
        "Parameter: {} of shape {} has no values yet; its size 0 becomes known at the first call "
        "of its module, or name the input size when you make the layer",
        shown(name()), to_string(shape()));
  }
  fail_invalid(
      "Parameter: {} of shape {} is not initialised; call initialize() on the net, and check that "
      "members() lists the module",
      shown(name()), to_string(shape()));
}

const Tensor& Parameter::no_tensor() {
  static const Tensor none;
  return none;
}

bool Parameter::shape_known() const {
  for (int64_t size : state_->shape) {
    if (size == 0) return false;
  }
  return true;
}

void Parameter::initialize(std::string_view name, uint64_t seed, const init::Initializer& fallback,
                           Device device) const {
  const init::Initializer& own = state_->options.init;
  if (!own && !fallback) fail_invalid("Parameter: {} has no initializer", name);
  state_->name = name;
  state_->device = device;
  state_->seed = derive_seed(seed, hash_name(name));
  state_->pending = own ? own : fallback;
  state_->data = Tensor();
  if (shape_known()) fill();
}

void Parameter::fill() const {
  const Pause pause;
  const Tensor values = Tensor::empty(state_->shape, {.dtype = dtype()});
  state_->pending(values, state_->seed);
  state_->pending = {};
  install(values.to(device()));
}

void Parameter::install(const Tensor& data) const {
  state_->data = data;
  if (grad_req() != GradReq::null) data.attach_grad(grad_req());
}

void Parameter::infer_shape(const Shape& found) const {
  Shape& shape = state_->shape;
  bool fits = found.size() == shape.size();
  for (size_t i = 0; fits && i < found.size(); ++i) fits = shape[i] == 0 || shape[i] == found[i];
  if (!fits) {
    fail_invalid("Parameter: {} has shape {}, but the input asks for {}", shown(name()),
                 to_string(shape), to_string(found));
  }
  shape = found;
  if (!state_->pending) throw_no_data();
  if (!shape_known()) {
    fail_invalid("Parameter: {} would have no elements; shape {}", shown(name()), to_string(shape));
  }
  fill();
}

void Parameter::set_data(const Tensor& values, std::string_view new_name) const {
  const Shape& found = values.shape();
  bool fits = found.size() == shape().size() && values.dtype() == dtype();
  for (size_t i = 0; fits && i < found.size(); ++i) {
    fits = shape()[i] == found[i] || (shape()[i] == 0 && !has_data());
  }
  if (!fits) {
    fail_invalid("Parameter: {} of shape {} {} cannot take values of shape {} {}", shown(name()),
                 to_string(shape()), thalweg::name(dtype()), to_string(found),
                 thalweg::name(values.dtype()));
  }
  if (!new_name.empty()) state_->name = new_name;
  const Pause pause;
  if (has_data()) {
    data().assign(values);
    return;
  }
  state_->shape = found;
  state_->pending = {};
  install(values.to(device()).clone());
}

void Parameter::set_grad_req(GradReq req) const {
  if (!differentiable()) return;
  state_->options.grad_req = req;
  if (has_data()) data().attach_grad(req);
}

void Parameter::cast(DType dtype) const {
  if (!is_floating(dtype)) {
    fail_invalid("cast: parameters become floating dtypes only; got {}", thalweg::name(dtype));
  }
  if (!is_floating(this->dtype()) || this->dtype() == dtype) return;
  state_->options.dtype = dtype;
  const Pause pause;
  if (has_data()) install(data().to(dtype).detach());
}

void Parameter::to(Device device) const {
  if (state_->device == device) return;
  state_->device = device;
  const Pause pause;
  if (has_data()) install(data().to(device));
}

}  // namespace thalweg::nn
