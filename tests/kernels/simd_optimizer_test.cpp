#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/optimizer.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/samples.h>

#include "kernels/op_kernels.h"
#include "kernels/simd_targets.h"

namespace thalweg {
namespace {

constexpr const char* kUpdates[] = {"sgd_update", "adam_update", "rmsprop_update",
                                    "adagrad_update"};

TEST(SimdOptimizer, GivesTheBitsOfTheReferenceInEveryTarget) {
  for_each_simd_target([] {
    for (const char* op : kUpdates) {
      for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
        for (const Sample& sample : samples_of(find_op(op), dtype)) {
          EXPECT_EQ(expect_kernels_agree(op, sample.attrs.data(), sample.inputs, {}), 1) << op;
        }
      }
    }
  });
}

TEST(SimdOptimizer, CentersTheSquaresOfRmsProp) {
  const RmsPropAttrs attrs{.tensors = 1, .centered = true, .momentum = true};
  const std::vector<double> numbers{0.5, 2, 0.1, 0.01, 0.9, 1e-8, 0.8};
  for (int64_t n : {1, 15, 16, 17, 67}) {
    const Tensor ones = Tensor::ones({n});
    const std::vector<Tensor> inputs{
        Tensor::of(numbers, {1, 7}), ones * 0.75, ones * -0.3, ones * 2.0, ones * 0.25, ones * 0.1};
    EXPECT_EQ(expect_kernels_agree("rmsprop_update", &attrs, inputs, {}), 1);
  }
}

TEST(SimdOptimizer, CutsLargeTensorsIntoTiles) {
  const SgdAttrs attrs{.tensors = 3, .momentum = true};
  const std::vector<double> row{1, 1e9, 0.01, 0.1, 0.9, 1, 0, 1};
  std::vector<double> numbers;
  std::vector<Tensor> inputs(1);
  for (int list = 0; list < 3; ++list) {
    for (int64_t n : {100000, 16384, 5}) {
      std::vector<float> v(static_cast<size_t>(n));
      for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>((i + list) % 97) / 97.0f;
      inputs.push_back(Tensor::of(v));
    }
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  inputs[0] = Tensor::of(numbers, {3, 8});
  EXPECT_EQ(expect_kernels_agree("sgd_update", &attrs, inputs, {}), 1);
}

// The weight after each step of SGD from weight 1 and gradient 0.5 with learning rate 0.1.
std::vector<double> sgd_path(const std::vector<SgdNumbers>& steps, bool momentum) {
  const SgdAttrs attrs{.tensors = 1, .momentum = momentum};
  const Tensor weight = Tensor::ones({1}, {DType::f64}), state = Tensor::zeros({1}, {DType::f64});
  const Tensor gradient = Tensor::full({1}, 0.5, {DType::f64});
  std::vector<double> path;
  for (const SgdNumbers& n : steps) {
    const auto* row = reinterpret_cast<const double*>(&n);
    const Tensor numbers = Tensor::of(std::vector<double>(row, row + 8), {1, 8});
    const TensorImpl* in[4] = {numbers.impl(), weight.impl(), gradient.impl(), state.impl()};
    TensorImpl* out[2] = {weight.impl(), state.impl()};
    const size_t extra = momentum ? 1 : 0;
    run_update(sgd_update_op(), &attrs, {in, 3 + extra}, {out, 1 + extra});
    path.push_back(weight.item<double>());
  }
  return path;
}

void expect_path(const std::vector<double>& path, const std::vector<double>& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(path[i], wanted[i], 1e-12);
}

// ml-explore/mlx issues 440 and 473; the numbers are PyTorch's.
TEST(SimdOptimizer, TakesTheStepsOfPyTorchsSgd) {
  const SgdNumbers decay{.gradient = {.weight_decay = 0.1}, .learning_rate = 0.1};
  expect_path(sgd_path({decay, decay}, false), {0.94, 0.8806});

  SgdNumbers first{.gradient = {}, .learning_rate = 0.1, .momentum = 0.9};
  SgdNumbers damped = first;
  damped.mix = 0.5;
  expect_path(sgd_path({first, damped, damped}, true), {0.95, 0.88, 0.792});

  SgdNumbers nesterov = first;
  nesterov.from_gradient = 1;
  nesterov.from_momentum = 0.9;
  expect_path(sgd_path({nesterov, nesterov, nesterov}, true), {0.905, 0.7695, 0.59755});

  SgdNumbers both = first;
  both.gradient.weight_decay = 0.1;
  expect_path(sgd_path({both, both}, true), {0.94, 0.8266});

  SgdNumbers up = decay;
  up.gradient.scale = -1;
  expect_path(sgd_path({up, up}, false), {1.04, 1.0796});
}

TEST(SimdOptimizer, MeasuresTheNormOfAllTensors) {
  for_each_simd_target([] {
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      for (const Sample& sample : samples_of(global_norm_op(), dtype)) {
        EXPECT_EQ(expect_kernels_agree("global_norm", nullptr, sample.inputs, {1e-12, 1e-13}), 1);
      }
    }
  });
  const std::vector<Tensor> large{Tensor::full({40000}, 1e20), Tensor::full({3}, 1e20)};
  EXPECT_EQ(expect_kernels_agree("global_norm", nullptr, large, {0, 1e-12}), 1);
}

}  // namespace
}  // namespace thalweg
