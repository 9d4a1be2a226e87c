#include "train/fixture.h"

#include <fstream>
#include <map>
#include <stdexcept>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>

namespace thalweg::train {

const Json& fixtures(const std::string& name) {
  static std::map<std::string, Json> files;
  const auto [found, is_new] = files.try_emplace(name);
  if (is_new) {
    std::ifstream file(std::string(THALWEG_TEST_FOLDER) + "/data/" + name + ".json");
    if (!file) throw std::runtime_error("no fixture file " + name);
    found->second = Json::parse(file);
  }
  return found->second;
}

Tensor array(const Json& value, DType dtype) {
  Shape shape;
  for (const Json& d : value.at("shape")) shape.push_back(d.get<int64_t>());
  return Tensor::of(value.at("data").get<std::vector<double>>(), shape).to(dtype);
}

nn::Parameter parameter(const std::string& name, const Tensor& values) {
  nn::Parameter p(values.shape(), {.dtype = values.dtype()});
  p.set_data(values, name);
  return p;
}

std::vector<double> numbers(const Tensor& t) { return t.to(DType::f64).to_vector<double>(); }

void give_gradient(const nn::Parameter& p, const Tensor& gradient) {
  Tensor head;
  {
    Record record;
    head = p.data() * 1.0;
  }
  head.backward(gradient);
}

}  // namespace thalweg::train
