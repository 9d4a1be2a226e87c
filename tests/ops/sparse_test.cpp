#include <gtest/gtest.h>

#include <thalweg/graph/autograd.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/sparse.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

// [[1, 0, 2], [0, 0, 0], [0, 3, 0], [4, 0, 5]]
const Tensor kColumns = Tensor::of<int32_t>({0, 2, 1, 0, 2});
const Tensor kRowStarts = Tensor::of<int64_t>({0, 2, 2, 3, 5});
Tensor values() { return Tensor::of<double>({1, 2, 3, 4, 5}); }
Tensor dense() { return Tensor::of<double>({1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 0, 5}, {4, 3}); }
Tensor weight() { return Tensor::of<double>({1, -2, 0.5, 3, -1, 0.25}, {3, 2}); }

TEST(CsrMatmul, IsTheProductOfTheDenseMatrix) {
  EXPECT_EQ(csr_matmul(values(), kColumns, kRowStarts, weight()).to_vector<double>(),
            matmul(dense(), weight()).to_vector<double>());
}

TEST(CsrMatmul, GivesTheGradientsOfTheDenseProduct) {
  const Tensor w = weight().attach_grad();
  const Tensor v = values().attach_grad();
  const Tensor w2 = weight().attach_grad();
  const Tensor d = dense().attach_grad();
  Tensor a, b;
  {
    const Record record;
    a = sum(square(csr_matmul(v, kColumns, kRowStarts, w)));
    b = sum(square(matmul(d, w2)));
  }
  a.backward();
  b.backward();
  EXPECT_EQ(w.grad().to_vector<double>(), w2.grad().to_vector<double>());
  const auto all = d.grad().to_vector<double>();
  EXPECT_EQ(v.grad().to_vector<double>(),
            (std::vector<double>{all[0], all[2], all[7], all[9], all[11]}));
}

TEST(CsrMatmul, RejectsPartsThatDoNotFit) {
  const auto error = [&](const Tensor& columns, const Tensor& starts, const Tensor& w) {
    return error_text(ErrorKind::invalid, [&] { csr_matmul(values(), columns, starts, w); });
  };
  EXPECT_NE(error(Tensor::of<int32_t>({0, 2, 1, 0, 3}), kRowStarts, weight())
                .find("csr_matmul: index 3 is out of range"),
            std::string::npos);
  EXPECT_NE(error(kColumns, Tensor::of<int64_t>({0, 2, 1, 3, 5}), weight())
                .find("row_starts falls from 2 to 1 at row 1"),
            std::string::npos);
  EXPECT_NE(error(kColumns, Tensor::of<int64_t>({0, 9}), weight()).find("out of range"),
            std::string::npos);
  EXPECT_NE(error(Tensor::of<int32_t>({0}), kRowStarts, weight()).find("values [5]"),
            std::string::npos);
  EXPECT_NE(error(kColumns, Tensor::of<int64_t>({}), weight()).find("row_starts is empty"),
            std::string::npos);
}

}  // namespace
}  // namespace thalweg
