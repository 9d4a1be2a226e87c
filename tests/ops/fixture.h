#pragma once

// Numbers that PyTorch or NumPy gave, from the files in data/ (see make_fixtures_conv.py).

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <thalweg/tensor/tensor.h>

namespace thalweg {

using Json = nlohmann::json;

/// All cases of data/<name>.json: {case: {settings and arrays by name}}.
const Json& fixtures(const std::string& name);
/// An array {"shape": [...], "data": [...]} as a tensor of `dtype`; undefined for null.
Tensor array(const Json& value, DType dtype = DType::f64);
/// A list of integers; a number becomes a list of one.
Dims dims(const Json& value);

/// Fails the test unless the shapes are equal and each element is within `tolerance` (relative to
/// the larger of 1 and the expected value); NaN equals NaN.
void expect_near(const Tensor& actual, const Tensor& expected, double tolerance);
void expect_near(const Tensor& actual, const Json& expected, double tolerance);
/// Tolerance of a comparison with f64 numbers after a computation in `dtype`.
double tolerance_of(DType dtype);

}  // namespace thalweg
