// Gradients of leaves that have some rows only: when they do, and what becomes of them.

#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/index.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/sparse.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

// [[1, 0, 2, 0], [0, 0, 0, 0], [0, 0, 3, 0], [4, 0, 5 + 6, 0]]
CsrTensor matrix(DType dtype = DType::f64) {
  return {Tensor::of<double>({1, 2, 3, 4, 5, 6}).to(dtype),
          Tensor::of<int32_t>({0, 2, 2, 0, 2, 2}),
          Tensor::of<int64_t>({0, 2, 2, 3, 6}),
          {4, 4}};
}
Tensor weight(const Shape& shape) {
  return Tensor::of<double>({1, -2, 0.5, 3, -1, 0.25, 2, 7}, shape);
}

template <typename F>
void differentiate(F&& f) {
  Tensor loss;
  {
    const Record record;
    loss = sum(square(f()));
  }
  loss.backward();
}

std::vector<double> dense_gradient(const Shape& shape) {
  const Tensor w = weight(shape).attach_grad();
  const Tensor x = matrix().to_dense();
  differentiate([&] { return shape[0] == 4 ? matmul(x, w) : linear(x, w); });
  return w.grad().to_vector<double>();
}

TEST(RowGradient, OfASparseProductHasItsColumnsAndTheDenseNumbers) {
  const Tensor w = weight({4, 2}).attach_grad();
  differentiate([&] { return matmul(matrix(), w); });
  const std::optional<RowGradient> rows = row_gradient(w);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->axis, 0);
  EXPECT_EQ(rows->indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(rows->rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(w.grad().to_vector<double>(), dense_gradient({4, 2}));
  EXPECT_FALSE(row_gradient(w)) << "grad() made it dense";
}

TEST(RowGradient, OfASparseLinearLayerHasColumnsOfItsWeight) {
  const Tensor w = weight({2, 4}).attach_grad();
  differentiate([&] { return linear(matrix(), w); });
  ASSERT_TRUE(row_gradient(w));
  EXPECT_EQ(row_gradient(w)->axis, 1);
  EXPECT_EQ(row_gradient(w)->rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(w.grad().to_vector<double>(), dense_gradient({2, 4}));
}

TEST(RowGradient, OfEveryFloatingDtypeIsWhatTheDenseOneIs) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Tensor a = weight({2, 4}).to(dtype).attach_grad(), b = a.clone().attach_grad();
    differentiate([&] { return linear(matrix(dtype), a); });
    differentiate([&] { return linear(matrix(dtype).to_dense(), b); });
    EXPECT_TRUE(row_gradient(a));
    const auto found = a.grad().to(DType::f64).to_vector<double>(),
               wanted = b.grad().to(DType::f64).to_vector<double>();
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], wanted[i], std::abs(wanted[i]) / 64) << name(dtype);
  }
}

TEST(RowGradient, AddsUpOverBackwardPassesAndUses) {
  const Tensor w = weight({4, 2}).attach_grad(GradReq::add);
  const auto rows = [&](std::vector<int64_t> indices) {
    differentiate([&] { return embedding(Tensor::of(indices), w, EmbeddingGradient::rows); });
  };
  rows({1, 1});
  rows({3, 1});
  ASSERT_TRUE(row_gradient(w));
  EXPECT_EQ(row_gradient(w)->indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(row_gradient(w)->rows.to_vector<double>(), (std::vector<double>{3, 18, 4, 14}));
  w.zero_grad();
  EXPECT_EQ(row_gradient(w)->indices.size(), 0);
  EXPECT_EQ(w.grad().to_vector<double>(), std::vector<double>(8, 0.0));
  rows({0});
  EXPECT_EQ(w.grad().to_vector<double>(), (std::vector<double>{2, -4, 0, 0, 0, 0, 0, 0}));

  const Tensor twice = weight({4, 2}).attach_grad();
  differentiate([&] {
    return embedding(Tensor::of<int64_t>({0, 1}), twice, EmbeddingGradient::rows) +
           embedding(Tensor::of<int64_t>({1, 1}), twice, EmbeddingGradient::rows);
  });
  ASSERT_TRUE(row_gradient(twice));
  EXPECT_EQ(row_gradient(twice)->rows.to_vector<double>(), (std::vector<double>{3, 2, 7, 26}));
}

// As tied weights do: an embedding and the layer that gives scores of words.
TEST(RowGradient, OfAWeightThatIsUsedOtherwiseTooIsDense) {
  const Tensor x = Tensor::of<double>({1, 2, 3, 4}, {2, 2});
  std::vector<std::vector<double>> found;
  for (const auto kind : {EmbeddingGradient::dense, EmbeddingGradient::rows}) {
    const Tensor w = weight({4, 2}).attach_grad();
    differentiate([&] { return linear(embedding(Tensor::of<int64_t>({2, 0}), w, kind) + x, w); });
    EXPECT_FALSE(row_gradient(w));
    found.push_back(w.grad().to_vector<double>());
  }
  EXPECT_EQ(found[0], found[1]);
  // Sparse along both axes.
  const Tensor w = weight({4, 2}).attach_grad(), same = weight({4, 2}).attach_grad();
  const CsrTensor narrow{Tensor::of<double>({1, 2}),
                         Tensor::of<int32_t>({1, 1}),
                         Tensor::of<int64_t>({0, 1, 2}),
                         {2, 2}};
  differentiate([&] {
    return linear(narrow, w) * sum(embedding(Tensor::of<int64_t>({3}), w, EmbeddingGradient::rows));
  });
  differentiate([&] {
    return linear(narrow.to_dense(), same) * sum(embedding(Tensor::of<int64_t>({3}), same));
  });
  EXPECT_FALSE(row_gradient(w));
  EXPECT_EQ(w.grad().to_vector<double>(), same.grad().to_vector<double>());
}

TEST(RowGradient, IsWrittenIntoAGradientThatSomebodyHolds) {
  const Tensor w = weight({4, 2}).attach_grad();
  const Tensor held = w.grad();
  differentiate([&] { return embedding(Tensor::of<int64_t>({1}), w, EmbeddingGradient::rows); });
  EXPECT_FALSE(row_gradient(w));
  EXPECT_EQ(held.to_vector<double>(), (std::vector<double>{0, 0, 1, 6, 0, 0, 0, 0}));
  differentiate([&] { return embedding(Tensor::of<int64_t>({0}), w, EmbeddingGradient::rows); });
  EXPECT_EQ(held.to_vector<double>(), (std::vector<double>{2, -4, 0, 0, 0, 0, 0, 0}));
}

TEST(RowGradient, GivesWayToADenseOneAndComesBack) {
  const Tensor w = weight({4, 2}).attach_grad();
  differentiate([&] { return embedding(Tensor::of<int64_t>({1}), w, EmbeddingGradient::rows); });
  differentiate([&] { return w * 1.0; });
  EXPECT_FALSE(row_gradient(w));
  EXPECT_EQ(w.grad().to_vector<double>(), (w * 2.0).to_vector<double>());
  differentiate([&] { return embedding(Tensor::of<int64_t>({1}), w, EmbeddingGradient::rows); });
  EXPECT_TRUE(row_gradient(w));
}

TEST(RowGradient, IsDenseWhereGradientsAreReturnedOrDifferentiated) {
  const Tensor w = weight({4, 2}).attach_grad();
  Tensor first, second;
  {
    const Record record;
    first = grad(sum(square(matmul(matrix(), w))), w, {.create_graph = true});
    second = sum(first);
  }
  EXPECT_EQ(first.to_vector<double>(), dense_gradient({4, 2}));
  second.backward();
  // The second derivative of |x w|^2: 2 x' x 1.
  const Tensor x = matrix().to_dense();
  EXPECT_EQ(w.grad().to_vector<double>(),
            (matmul(transpose(x), matmul(x, Tensor::ones({4, 2}, {DType::f64}))) * 2.0)
                .to_vector<double>());
}

TEST(SparseProduct, TakesRowsOfSeveralAxesAndBatchesWithoutRows) {
  CsrTensor x = matrix();
  x.shape = {2, 2, 4};
  EXPECT_EQ(matmul(x, weight({4, 2})).shape(), (Shape{2, 2, 2}));
  const CsrTensor none{
      Tensor::of<double>({}), Tensor::of<int32_t>({}), Tensor::of<int64_t>({0}), {0, 4}};
  const Tensor w = weight({2, 4}).attach_grad();
  differentiate([&] { return linear(none, w, Tensor::of<double>({1, 2})); });
  EXPECT_EQ(row_gradient(w)->indices.size(), 0);
}

TEST(SparseProduct, RejectsPartsThatDoNotFit) {
  const auto error = [&](const CsrTensor& x, const Shape& w) {
    return error_text(ErrorKind::invalid, [&] { matmul(x, weight(w)); });
  };
  EXPECT_NE(error(matrix(), {2, 4}).find("inner dimensions differ: sparse [4, 4] and dense [2, 4]"),
            std::string::npos);
  CsrTensor x = matrix();
  x.shape = {3, 4};
  EXPECT_NE(error(x, {4, 2}).find("row_starts [5] do not fit"), std::string::npos);
  EXPECT_NE(error(CsrTensor{}, {4, 2}).find("sparse matrix has shape"), std::string::npos);
  x.shape = {};
  x.row_starts = Tensor::of<int64_t>({});
  EXPECT_NE(error_text(ErrorKind::invalid, [&] { x.to_dense(); }).find("do not fit"),
            std::string::npos);
  x = matrix();
  x.columns = Tensor::of<int32_t>({0, 2, 2, 0, 4, 2});
  EXPECT_NE(error(x, {4, 2}).find("index 4 is out of range"), std::string::npos);
  EXPECT_NE(error_text(ErrorKind::invalid, [&] { x.to_dense(); })
                .find("column 4 of stored value 4 is out of range; the width is 4"),
            std::string::npos);
  x = matrix();
  x.row_starts = Tensor::of<int64_t>({0, 2, 1, 3, 6});
  EXPECT_NE(error_text(ErrorKind::invalid, [&] { x.to_dense(); }).find("falls from 2 to 1"),
            std::string::npos);
  x.row_starts = Tensor::of<int64_t>({0, 2, 2, 3, 5});
  EXPECT_NE(error_text(ErrorKind::invalid, [&] { x.to_dense(); }).find("expected 0 to 6"),
            std::string::npos);
}

}  // namespace
}  // namespace thalweg
