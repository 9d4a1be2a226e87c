#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/model/parameters.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/sequential.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg::model {
namespace {

using nn::Dense;
using nn::Sequential;
using testing::HasSubstr;

Sequential small_net() { return Sequential{Dense(3), Dense(2)}; }

Sequential saved_net(const std::string& path) {
  Sequential net = small_net();
  net.initialize();
  net(Tensor::ones({1, 4}));
  save_parameters(net, path, {{"epoch", "3"}});
  return net;
}

TEST(Parameters, ComeBackIntoANetThatWasNeverInitialized) {
  const TempDir dir;
  Sequential net = saved_net(dir / "net.safetensors");
  Sequential other = small_net();
  load_parameters(other, dir / "net.safetensors");
  const Tensor x = Tensor::of({1.0f, -2.0f, 3.0f, 0.5f}, {1, 4});
  EXPECT_EQ(other(x).to_vector<float>(), net(x).to_vector<float>());
  EXPECT_EQ(other.parameters()["1.bias"].name(), "1.bias");
  EXPECT_EQ(SafetensorsFile(dir / "net.safetensors").metadata().at("epoch"), "3");
}

TEST(Parameters, KeepTheTensorsThatATrainerHolds) {
  const TempDir dir;
  Sequential net = saved_net(dir / "a");
  const Tensor held = net.parameters()["0.bias"].data();
  held.fill(9);
  load_parameters(net, dir / "a");
  EXPECT_EQ(held.to_vector<float>(), std::vector<float>(3, 0));
  EXPECT_EQ(held.grad_req(), GradReq::write);
}

TEST(Parameters, AreSavedOnceWhenSharedAndFoundUnderAnyName) {
  const TempDir dir;
  Dense shared(2, {.in_units = 2});
  Sequential net{shared, shared};
  net.initialize();
  save_parameters(net, dir / "a");
  EXPECT_EQ(SafetensorsFile(dir / "a").entries().size(), 2u);

  const Tensor ones = Tensor::ones({2, 2});
  save_safetensors(dir / "b", {{"1.weight", ones}, {"1.bias", Tensor::ones({2})}});
  load_parameters(net, dir / "b");
  EXPECT_EQ(shared.weight.data().to_vector<float>(), ones.to_vector<float>());
}

TEST(Parameters, ListAllThatDoesNotFit) {
  const TempDir dir;
  save_safetensors(dir / "a", {{"0.weight", Tensor::ones({5, 4})},
                               {"0.bias", Tensor::ones({3}, {.dtype = DType::f64})},
                               {"1.wieght", Tensor::ones({2, 3})},
                               {"1.bias", Tensor::ones({2})}});
  Sequential net = saved_net(dir / "b");
  const auto before = net.parameters()["1.bias"].data().to_vector<float>();
  const std::string text = error_text(ErrorKind::invalid, [&] { load_parameters(net, dir / "a"); });
  EXPECT_THAT(text, HasSubstr("load_parameters: " + dir / "a" + " does not fit the net"));
  EXPECT_THAT(text, HasSubstr("missing: 1.weight"));
  EXPECT_THAT(text, HasSubstr("extra: 1.wieght"));
  EXPECT_THAT(text, HasSubstr("0.weight: the net has shape [3, 4], the file [5, 4]"));
  EXPECT_THAT(text, HasSubstr("0.bias: the net has dtype f32, the file f64"));
  EXPECT_EQ(net.parameters()["1.bias"].data().to_vector<float>(), before);
}

TEST(Parameters, AreLoadedInPartAndConvertedWhenAskedFor) {
  const TempDir dir;
  save_safetensors(dir / "a", {{"0.bias", Tensor::full({3}, 7, {.dtype = DType::f64})},
                               {"other", Tensor::ones({1})}});
  Sequential net = saved_net(dir / "b");
  EXPECT_THAT(
      error_text(
          ErrorKind::invalid,
          [&] { load_parameters(net, dir / "a", {.allow_missing = true, .ignore_extra = true}); }),
      HasSubstr("set cast to convert"));
  load_parameters(net, dir / "a", {.allow_missing = true, .ignore_extra = true, .cast = true});
  EXPECT_EQ(net.parameters()["0.bias"].data().to_vector<float>(), std::vector<float>(3, 7));
}

TEST(Parameters, AreNotSavedBeforeTheyExist) {
  const TempDir dir;
  Sequential net = small_net();
  net.initialize();
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { save_parameters(net, dir / "a"); }),
              HasSubstr("0.weight of shape [3, 0] has no values yet"));
}

}  // namespace
}  // namespace thalweg::model
