#include <vector>

#include <gtest/gtest.h>

#include <thalweg/base/error.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/reduce.h>

namespace thalweg {
namespace {

TEST(Backward, WritesTheGradientOfASumOfSquares) {
  const Tensor x = Tensor::of({1.0f, -2.0f, 3.0f}).attach_grad();
  Tensor loss;
  {
    Record record;
    loss = sum(square(x));
  }
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, -4, 6}));
}

TEST(Backward, RunsTwiceOnlyWithRetain) {
  const Tensor x = Tensor::of({3.0f}).attach_grad();
  Tensor y;
  {
    Record record;
    y = x * x;
  }
  backward(y, {.retain = true});
  y.backward();
  EXPECT_FLOAT_EQ(x.grad().item<float>(), 6);
  EXPECT_THROW(y.backward(), Error);
}

TEST(Backward, DifferentiatesAGradient) {
  const Tensor x = Tensor::of({2.0}).attach_grad();
  Tensor y;
  {
    Record record;
    y = x * x * x;
  }
  const Tensor dx = grad(y, x, {.create_graph = true});
  EXPECT_DOUBLE_EQ(dx.item<double>(), 12);
  EXPECT_DOUBLE_EQ(grad(dx, x).item<double>(), 12);
}

// pytorch/pytorch#6990
TEST(Backward, RefusesAValueThatWasChangedInPlace) {
  const Tensor x = Tensor::of({0.0f, 2.0f}).attach_grad();
  Tensor y, loss;
  {
    Record record;
    y = sigmoid(x);
    loss = sum(y);
  }
  y.detach().fill(0);
  EXPECT_THROW(loss.backward(), Error);
}

TEST(Backward, CrossesRecordScopes) {
  const Tensor x = Tensor::of({2.0f}).attach_grad();
  Tensor h, y;
  {
    Record record;
    h = x * x;
  }
  {
    Record record;
    y = h * h;
  }
  y.backward();
  EXPECT_FLOAT_EQ(x.grad().item<float>(), 32);
}

// As a leaf it would pass nothing on to x, whose gradient would be zero without a word.
TEST(AttachGrad, OfARecordedTensorIsAnError) {
  const Tensor x = Tensor::of({2.0f}).attach_grad();
  Tensor y, loss;
  {
    Record record;
    y = x * x;
    EXPECT_THROW(y.attach_grad(), Error);
    EXPECT_EQ(y.grad_req(), GradReq::null);
    loss = y * 3;
  }
  EXPECT_THROW(y.attach_grad(), Error);
  loss.backward();
  EXPECT_FLOAT_EQ(x.grad().item<float>(), 12);
  const Tensor leaf = y.detach().attach_grad();
  {
    Record record;
    loss = leaf * leaf;
  }
  loss.backward();
  EXPECT_FLOAT_EQ(leaf.grad().item<float>(), 8);
}

}  // namespace
}  // namespace thalweg
