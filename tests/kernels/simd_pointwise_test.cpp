#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/ops/call.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "kernels/op_kernels.h"
#include "kernels/simd_targets.h"
#include "ops/select.h"

namespace thalweg {
namespace {

// The rows of pointwise.def; what has attributes or other dtypes is tested by itself below.
std::vector<const Op*> rows() {
  neg(Tensor::ones({1}));  // registers the kernels
  std::vector<const Op*> result;
  for (const Op* op : all_ops()) {
    const auto kernels = op->kernels[static_cast<int>(DeviceKind::cpu)].all();
    const bool is_simd = op->flags.pointwise && std::string_view(kernels[0].name) == "simd";
    if (is_simd && op->attrs().fields.empty() && std::string_view(op->name) != "where") {
      result.push_back(op);
    }
  }
  return result;
}

size_t input_count(const Op& op) {
  const std::string_view inputs = op.inputs;
  return 1 + static_cast<size_t>(std::count(inputs.begin(), inputs.end(), ','));
}

// Both signs, small and large, some equal ones; where a function has no value it gives NaN.
Tensor values(const Shape& shape, DType dtype, int salt) {
  std::vector<float> v(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < v.size(); ++i) {
    const int k = static_cast<int>(i) * (salt + 3) % 29 - 11;
    v[i] = static_cast<float>(k) * (i % 5 == 4 ? 1.25f : 0.109375f);
  }
  return Tensor::of(v, shape).to(dtype);
}

// A few units in the last place of the dtype. The intermediate values of composed rows are of the
// size of 1, whatever the result.
Tolerance tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {2e-14, 2e-14};
    case DType::f32:
      return {2e-6, 2e-6};
    case DType::f16:
      return {2e-3, 2e-3};
    default:
      return {2e-2, 2e-2};
  }
}

void expect_agrees(const Op& op, const std::vector<Tensor>& inputs) {
  SCOPED_TRACE(op.name);
  EXPECT_EQ(expect_kernels_agree(op.name, nullptr, inputs, tolerance(inputs[0].dtype())), 1);
}

TEST(SimdPointwise, HasEveryRowOfTheDefinitions) { EXPECT_GE(rows().size(), 100u); }

TEST(SimdPointwise, AgreesWithTheReferenceForEverySize) {
  for_each_simd_target([] {
    for (const Op* op : rows()) {
      for (int64_t n = 0; n <= 67; n += n < 35 ? 1 : 8) {
        std::vector<Tensor> inputs;
        for (size_t k = 0; k < input_count(*op); ++k) {
          inputs.push_back(values({n}, DType::f32, static_cast<int>(k)));
        }
        expect_agrees(*op, inputs);
      }
    }
  });
}

TEST(SimdPointwise, AgreesWithTheReferenceForEveryFloatingDtype) {
  for_each_simd_target([] {
    for (const Op* op : rows()) {
      for (DType dtype : {DType::f64, DType::f16, DType::bf16}) {
        for (int64_t n : {1, 3, 8, 21, 300}) {
          std::vector<Tensor> inputs;
          for (size_t k = 0; k < input_count(*op); ++k) {
            inputs.push_back(values({n}, dtype, static_cast<int>(k)));
          }
          expect_agrees(*op, inputs);
        }
      }
    }
  });
}

TEST(SimdPointwise, AgreesWithTheReferenceForEveryStride) {
  for (DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const Tensor plain = values({24, 20}, dtype, 0);
    const Tensor layouts[] = {values({24, 20}, dtype, 1),
                              transpose(values({20, 24}, dtype, 1)),
                              values({24, 60}, dtype, 1)[{Slice{}, Slice{.step = 3}}],
                              values({20}, dtype, 1),
                              values({24, 1}, dtype, 1),
                              values({}, dtype, 1)};
    for (const Op* op : rows()) {
      for (const Tensor& other : layouts) {
        if (input_count(*op) == 1) {
          expect_agrees(*op, {other});
        } else if (input_count(*op) == 2) {
          expect_agrees(*op, {plain, other});
          expect_agrees(*op, {other, plain});
        } else {
          expect_agrees(*op, {plain, other, plain});
        }
      }
    }
  }
}

TEST(SimdPointwise, KeepsTheSpecialValuesOfC) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f,  -0.0f,   1.0f,  -1.0f,  0.5f, -0.5f,  2.0f,  -2.0f,
                           3.0f,  -3.0f,   kInf,  -kInf,  kNan, 1e-45f, 1e38f, -1e38f,
                           90.0f, -105.0f, 88.8f, 700.0f, 1e5f, -1e5f,  1e9f,  1e-30f};
  std::vector<float> a, b;
  for (float x : special) {
    for (float y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  for_each_simd_target([&] {
    for (const Op* op : rows()) {
      if (op->flags.internal) continue;  // their x and y come from the op itself
      std::vector<Tensor> inputs{Tensor::of(a)};
      if (input_count(*op) == 2) inputs.push_back(Tensor::of(b));
      expect_agrees(*op, inputs);
    }
  });
}

// The exact value is the C library's in f64 or, for f64, in long double.
struct Function {
  const char* name;
  long double (*exact)(long double);
};
constexpr Function kFunctions[] = {
    {"sqrt", std::sqrt},   {"cbrt", std::cbrt}, {"exp", std::exp},     {"exp2", std::exp2},
    {"expm1", std::expm1}, {"log", std::log},   {"log2", std::log2},   {"log10", std::log10},
    {"log1p", std::log1p}, {"sin", std::sin},   {"cos", std::cos},     {"tan", std::tan},
    {"asin", std::asin},   {"acos", std::acos}, {"atan", std::atan},   {"sinh", std::sinh},
    {"cosh", std::cosh},   {"tanh", std::tanh}, {"asinh", std::asinh}, {"acosh", std::acosh},
    {"atanh", std::atanh}, {"erf", std::erf}};

// Numbers of all magnitudes and both signs, and many where functions bend.
template <typename T>
std::vector<T> spread() {
  std::vector<T> v;
  for (int i = 0; i < 20000; ++i) v.push_back(static_cast<T>((i - 10000) * 0.0031700337));
  for (int e = -120; e <= 120; ++e) {
    for (T m : {T(1), T(1.3333), T(1.9777)}) {
      v.push_back(std::ldexp(m, e));
      v.push_back(-std::ldexp(m, e));
    }
  }
  return v;
}

template <typename T>
double ulps_apart(T got, long double exact) {
  const T nearest = static_cast<T>(exact);
  if (std::isnan(nearest) || std::isnan(got))
    return std::isnan(nearest) == std::isnan(got) ? 0 : 1e9;
  if (got == nearest) return 0;
  if (std::isinf(nearest) || std::isinf(got)) return 1e9;
  const T size = std::abs(nearest);
  const T ulp = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / ulp);
}

template <typename T>
void expect_within_four_ulps() {
  const std::vector<T> x = spread<T>();
  for (const Function& f : kFunctions) {
    const NoAttrs none;
    const Tensor in = Tensor::of(x);
    const std::vector<T> y = call(find_op(f.name), none, in).template to_vector<T>();
    double worst = 0;
    T at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double apart = ulps_apart(y[i], f.exact(x[i]));
      if (apart > worst) {
        worst = apart;
        at = x[i];
      }
    }
    EXPECT_LE(worst, 4) << f.name << "(" << at << ")";
  }
}

TEST(SimdMath, IsWithinFourUnitsInTheLastPlace) {
  for_each_simd_target([] {
    expect_within_four_ulps<float>();
    expect_within_four_ulps<double>();
  });
}

TEST(SimdPointwise, ClipsAndKeepsNan) {
  const ClipAttrs attrs{-0.5, 1.25};
  for_each_simd_target([&] {
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      for (int64_t n : {0, 1, 5, 16, 67}) {
        EXPECT_EQ(expect_kernels_agree("clip", &attrs, {values({n}, dtype, 0)}, {}), 1);
      }
      EXPECT_EQ(expect_kernels_agree("clip", &attrs, {transpose(values({5, 7}, dtype, 0))}, {}), 1);
    }
    const Tensor nan = Tensor::of({std::numeric_limits<float>::quiet_NaN()});
    EXPECT_EQ(expect_kernels_agree("clip", &attrs, {nan}, {}), 1);
  });
}

TEST(SimdPointwise, PicksElementsOfEveryWidth) {
  for_each_simd_target([] {
    for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i64, DType::u8}) {
      for (int64_t n : {0, 1, 7, 33, 67}) {
        const Tensor a = values({n}, DType::f32, 0), b = values({n}, DType::f32, 1);
        const Tensor mask = a > b;
        const std::vector<Tensor> all{mask, abs(a).to(dtype), abs(b).to(dtype)};
        EXPECT_EQ(expect_kernels_agree("where", nullptr, all, {}), 1);
        const std::vector<Tensor> repeated{mask, abs(a).to(dtype), Tensor::zeros({}, {dtype})};
        EXPECT_EQ(expect_kernels_agree("where", nullptr, repeated, {}), 1);
      }
      const Tensor column = values({9, 1}, DType::f32, 2) > 0.0;
      const Tensor wide = abs(values({9, 20}, DType::f32, 0)).to(dtype);
      const Tensor across = transpose(abs(values({20, 9}, DType::f32, 0)).to(dtype));
      EXPECT_EQ(expect_kernels_agree("where", nullptr, {column, wide, across}, {}), 1);
    }
  });
}

TEST(SimdPointwise, ConvertsAsTheReferenceDoes) {
  struct CastAttrs {
    DType dtype;
  };
  const std::pair<DType, DType> pairs[] = {
      {DType::f32, DType::f64}, {DType::f64, DType::f32},  {DType::f32, DType::f16},
      {DType::f16, DType::f32}, {DType::f32, DType::bf16}, {DType::bf16, DType::f32},
      {DType::u8, DType::f32},  {DType::i32, DType::f32},  {DType::i64, DType::f32},
      {DType::f32, DType::f32}, {DType::i16, DType::i16},  {DType::boolean, DType::f32}};
  for_each_simd_target([&] {
    for (const auto& [from, to] : pairs) {
      const CastAttrs attrs{to};
      for (int64_t n : {0, 1, 7, 33, 67, 700}) {
        const Tensor x = abs(values({n}, DType::f32, 0)).to(from);
        EXPECT_EQ(expect_kernels_agree("cast", &attrs, {x}, {}), 1);
      }
      const Tensor across = transpose(abs(values({12, 9}, DType::f32, 0)).to(from));
      EXPECT_EQ(expect_kernels_agree("cast", &attrs, {across}, {}), 1);
    }
  });
}

TEST(SimdPointwise, FillsEveryElementByARepeatedOne) {
  for (int64_t n : {1, 7, 511, 512, 513, 5000}) {
    const Tensor t = Tensor::zeros({n, 2});
    t[{Slice{}, 1}].fill(3);
    EXPECT_EQ(sum(t).item<double>(), 3.0 * static_cast<double>(n));
    t.fill(0.5);
    EXPECT_EQ(sum(t).item<double>(), static_cast<double>(n));
  }
}

}  // namespace
}  // namespace thalweg
