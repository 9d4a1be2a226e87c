#include "ops/fixture.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include <thalweg/ops/pointwise.h>

namespace thalweg {

const Json& fixtures(const std::string& name) {
  static std::map<std::string, Json> files;
  const auto [at, is_new] = files.try_emplace(name);
  if (is_new) {
    std::ifstream file(std::string(THALWEG_TEST_FOLDER) + "/data/" + name + ".json");
    at->second = Json::parse(file);
  }
  return at->second;
}

namespace {

// JSON has no word for what is no number: null stands for NaN, "inf" and "-inf" for themselves.
double element(const Json& v) {
  if (v.is_null()) return std::numeric_limits<double>::quiet_NaN();
  return v.is_string() ? std::stod(v.get<std::string>()) : v.get<double>();
}

}  // namespace

Tensor array(const Json& value, DType dtype) {
  if (value.is_null()) return {};
  std::vector<double> elements;
  for (const Json& v : value.at("data")) {
    elements.push_back(element(v));
  }
  return cast(Tensor::of(elements, dims(value.at("shape"))), dtype);
}

Dims dims(const Json& value) {
  if (value.is_number()) return {value.get<int64_t>()};
  Dims result;
  for (const Json& v : value) result.push_back(v.get<int64_t>());
  return result;
}

void expect_near(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(to_string(actual.shape()), to_string(expected.shape()));
  const std::vector<double> a = cast(actual, DType::f64).to_vector<double>();
  const std::vector<double> e = cast(expected, DType::f64).to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(e[i]) ? std::isnan(a[i]) : a[i] == e[i]) continue;
    ASSERT_NEAR(a[i], e[i], tolerance * std::max(1.0, std::fabs(e[i]))) << "at position " << i;
  }
}

void expect_near(const Tensor& actual, const Json& expected, double tolerance) {
  expect_near(actual, array(expected), tolerance);
}

double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-9;
    case DType::f16:
      return 4e-3;
    case DType::bf16:
      return 3e-2;
    default:
      return 1e-5;
  }
}

}  // namespace thalweg
