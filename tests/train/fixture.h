#pragma once

// Numbers that PyTorch gave, from the files in data/ (see make_fixtures.py).

#include <string>

#include <nlohmann/json.hpp>

#include <thalweg/nn/parameter.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::train {

using Json = nlohmann::json;

/// All cases of data/<name>.json.
const Json& fixtures(const std::string& name);
/// {"shape": [...], "data": [...]} as a tensor of `dtype`.
Tensor array(const Json& value, DType dtype);
/// A parameter with these values.
nn::Parameter parameter(const std::string& name, const Tensor& values);
/// All elements as f64.
std::vector<double> numbers(const Tensor& t);
/// Gives `p` this gradient, by a backward pass, as a loss would.
void give_gradient(const nn::Parameter& p, const Tensor& gradient);

}  // namespace thalweg::train
