#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "ops/fixture.h"

namespace thalweg {
namespace {

template <typename F>
void expect_case(const Json& c, DType dtype, DType index_dtype, double tolerance, F&& f) {
  const Tensor x = array(c["x"], dtype).attach_grad();
  const Tensor index = array(c["index"], index_dtype);
  Tensor y;
  {
    Record record;
    y = f(x, index, c["axis"].get<int64_t>());
  }
  y.backward(array(c["dy"], dtype));
  expect_near(y, c["y"], tolerance);
  expect_near(x.grad(), c["dx"], tolerance);
}

TEST(Take, AgreesWithNumPyForEveryIndexDtype) {
  for (const auto& [name, c] : fixtures("index").items()) {
    if (name.rfind("take", 0) != 0) continue;
    SCOPED_TRACE(name);
    for (DType index : {DType::i64, DType::i32, DType::i16, DType::i8}) {
      expect_case(c, DType::f64, index, 1e-12, take);
    }
    expect_case(c, DType::f16, DType::i64, 1e-2, take);
    expect_case(c, DType::bf16, DType::i64, 5e-2, take);
  }
}

TEST(Gather, AgreesWithPyTorch) {
  for (const auto& [name, c] : fixtures("index").items()) {
    if (name.rfind("gather", 0) != 0) continue;
    SCOPED_TRACE(name);
    expect_case(c, DType::f64, DType::i64, 1e-12, gather);
    expect_case(c, DType::f32, DType::u8, 1e-5, gather);
    const Tensor scattered =
        scatter_add(array(c["base"]), array(c["index"], DType::i64), array(c["dy"]), c["axis"]);
    expect_near(scattered, c["scattered"], 1e-12);
  }
}

TEST(Gather, ReadsStridedArrays) {
  const Json& c = fixtures("index")["gather middle"];
  const auto strided = [](const Json& value, DType dtype) {
    return transpose(contiguous(transpose(array(value, dtype))));
  };
  const Tensor y = gather(strided(c["x"], DType::f64), strided(c["index"], DType::i64), 1);
  expect_near(y, c["y"], 1e-12);
  expect_near(scatter_add(strided(c["base"], DType::f64), strided(c["index"], DType::i32),
                          strided(c["dy"], DType::f64), 1),
              c["scattered"], 1e-12);
}

TEST(Gather, RepeatsIndicesOfSizeOne) {
  const Tensor x = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(gather(x, Tensor::of({2, 0}, {1, 2}), 1).to_vector<int32_t>(),
            (std::vector<int32_t>{3, 1, 6, 4}));
}

TEST(Gather, DifferentiatesTwice) {
  const Tensor x = Tensor::of({1., 2., 3.}).attach_grad();
  const Tensor index = Tensor::of({2, 0, 2});
  Tensor y, total;
  {
    Record record;
    y = gather(square(x), index, 0);
  }
  const Tensor dx = grad(y, x, {.create_graph = true});  // [2, 0, 12]
  {
    Record record;
    total = sum(square(dx));
  }
  EXPECT_EQ(grad(total, x).to_vector<double>(), (std::vector<double>{8, 0, 96}));
}

Tensor embedding_gradient(const Tensor& weight, const Tensor& indices, const Tensor& dy) {
  weight.attach_grad();
  Tensor y;
  {
    Record record;
    y = embedding(indices, weight);
  }
  y.backward(dy);
  return weight.grad();
}

// pytorch/pytorch#1631
TEST(Gather, AddsUpTheGradientsOfARepeatedIndex) {
  const Tensor x = Tensor::of({0.1}).attach_grad();
  Tensor y;
  {
    Record record;
    y = gather(x, Tensor::of({0, 0}), 0);
  }
  y.backward(Tensor::of({0.2, 0.3}));
  EXPECT_EQ(x.grad().item<double>(), 0.5);
}

// pytorch/pytorch#1528
TEST(Embedding, AddsUpTheGradientsOfARepeatedRow) {
  const Tensor dy = Tensor::of({1.f, 10.f, 2.f, 20.f, 3.f, 30.f, 4.f, 40.f}, {4, 2});
  const Tensor g = embedding_gradient(Tensor::zeros({3, 2}), Tensor::of({2, 0, 2, 2}), dy);
  EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{2, 20, 0, 0, 8, 80}));
}

// tenstorrent/tt-metal#53386
TEST(Embedding, AddsUpHalvesInFloat) {
  for (DType dtype : {DType::bf16, DType::f16}) {
    const Tensor g =
        embedding_gradient(Tensor::zeros({3, 1}, {dtype}), Tensor::ones({1000}, {DType::i64}),
                           Tensor::ones({1000, 1}, {dtype}));
    EXPECT_EQ(g.to(DType::f32).to_vector<float>(), (std::vector<float>{0, 1000, 0}));
  }
}

TEST(Index, NamesTheValueAndPositionThatIsOutOfRange) {
  const Tensor x = Tensor::ones({3, 2});
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         take(x, Tensor::of({0, 1, 2, 3}, {2, 2}));
                       }),
            "take: index 3 is out of range; it is at [1, 1] of the indices of shape [2, 2]; axis 0 "
            "of size 3 takes -3 to 2");
  EXPECT_EQ(error_text(ErrorKind::invalid,
                       [&] {
                         embedding(Tensor::of({int64_t{1}, int64_t{-1}}), x);
                       }),
            "take: index -1 is out of range; it is at [1] of the indices of shape [2]; axis 0 of "
            "size 3 takes 0 to 2");
  EXPECT_EQ(error_text(ErrorKind::invalid, [&] { one_hot(Tensor::of({4}), 4); }),
            "one_hot: index 4 is out of range; it is at [0] of the indices of shape [1]; axis 1 of "
            "size 4 takes 0 to 3");
}

// A label of -1 must not read the last class: apache/mxnet clipped such labels.
TEST(Pick, TakesOneElementOfEachLineAndRejectsNegativeLabels) {
  const Tensor x = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}).attach_grad();
  Tensor y;
  {
    Record record;
    y = pick(x, Tensor::of({2, 0}));
  }
  EXPECT_EQ(y.shape(), (Shape{2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 4}));
  y.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(pick(x, Tensor::of({1, 0, 1}, {1, 3}), 0, true).to_vector<float>(),
            (std::vector<float>{4, 2, 6}));
  EXPECT_THROW(pick(x, Tensor::of({0, -1})), Error);
  EXPECT_THROW(pick(x, Tensor::of({0, 3})), Error);
}

// apache/mxnet#12197, #19753: indices went through f32.
TEST(Take, KeepsIndicesAboveTwoToThe24Exact) {
  const Tensor x = Tensor::zeros({16777218}, {DType::u8});
  x[16777217].fill(7);
  EXPECT_EQ(take(x, Tensor::of({16777216, 16777217})).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 7}));
}

TEST(Index, RejectsIndicesThatAreNotIntegers) {
  EXPECT_EQ(error_text(ErrorKind::invalid, [] { take(Tensor::ones({3}), Tensor::ones({2})); }),
            "take: f32 indices of shape [2]; indices are integers; convert with to(DType::i64)");
  EXPECT_THROW(take(Tensor::ones({3}), Tensor::ones({3}, {DType::boolean})), Error);
}

TEST(OneHot, PutsAOneAtEachIndex) {
  const Tensor y = one_hot(Tensor::of({1, 0, 2, 2}, {2, 2}), 3, DType::i64);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(y.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1}));
}

TEST(MaskedSelect, KeepsTheElementsWhereTheMaskHolds) {
  const Tensor x = Tensor::of({3.f, -1.f, 2.f, -5.f}, {2, 2}).attach_grad();
  Tensor y;
  {
    Record record;
    y = x[x > 0];
  }
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 2}));
  y.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 0, 1, 0}));
  const Tensor rows = x[Tensor::of({false, true})];
  EXPECT_EQ(rows.shape(), (Shape{1, 2}));
  EXPECT_EQ(rows.to_vector<float>(), (std::vector<float>{2, -5}));
  EXPECT_EQ(x[x > 9].shape(), (Shape{0}));
}

TEST(Nonzero, ListsPositionsInRowMajorOrder) {
  const Tensor p = nonzero(Tensor::of({0, 7, 0, 0, -1, 2}, {2, 3}));
  EXPECT_EQ(p.shape(), (Shape{3, 2}));
  EXPECT_EQ(p.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 1, 1, 1, 2}));
}

TEST(Index, TakesSlicesByATensor) {
  const Tensor x = Tensor::of({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(x[Tensor::of({-1, 0, 1})].to_vector<int32_t>(),
            (std::vector<int32_t>{3, 4, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace thalweg
