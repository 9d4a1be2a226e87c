// Recurrent nets and transformers as files: the bits of the net in prediction and in training.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thalweg/base/file.h>
#include <thalweg/base/random.h>
#include <thalweg/graph/autograd.h>
#include <thalweg/model/exported.h>
#include <thalweg/nn/attention.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/recurrent.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/pointwise.h>
#include <thalweg/ops/random.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/softmax.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"

namespace thalweg::model {
namespace {

using namespace nn;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr int64_t kWords = 11, kTags = 4;

std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }
Tensor tokens(int64_t n, int64_t length = 6) { return random_integers({n, length}, 0, kWords); }

Sequential tagger() {
  Sequential net{Embedding(kWords, 8),
                 LSTM(5, {.layers = 2, .bidirectional = true, .dropout = 0.3}), Dense(kTags)};
  net.initialize(init::xavier(), {.seed = 3});
  return net;
}

Sequential gpt() {
  Sequential net{Embedding(kWords, 8),
                 PositionalEmbedding(16, 8),
                 TransformerBlock(8, 2, {.causal = true, .dropout = 0.2}),
                 TransformerBlock(8, 4, {.causal = true, .kv_heads = 2, .rope = RopeOptions{}}),
                 LayerNorm(),
                 Dense(kTags)};
  net.initialize(init::xavier(), {.seed = 5});
  return net;
}

float train_step(Module& net, const Tensor& x, const Tensor& label) {
  Tensor loss;
  {
    const Record record;
    loss = mean(softmax_cross_entropy(net(x), label));
  }
  loss.backward();
  for (const NamedParameter& item : net.parameters().trainable()) {
    const Pause pause;
    item.parameter.data() -= item.parameter.grad() * 0.1;
  }
  return loss.item<float>();
}

class ExportedSequences : public testing::Test {
 protected:
  ImportedModel through_a_file(Module& net, const Tensor& example) {
    net(example);
    export_model(folder_ / "model", net, example);
    return import_model(folder_ / "model");
  }

  // Predicts, trains, and predicts again beside the net, on batches of several sizes.
  void expect_same(Sequential net) {
    ImportedModel model = through_a_file(net, tokens(4));
    EXPECT_TRUE(model.any_batch());
    const auto expect_same_outputs = [&] {
      for (const int64_t n : {4, 1, 7}) {
        const Tensor x = tokens(n);
        EXPECT_EQ(values(model(x)), values(net(x))) << n;
      }
    };
    expect_same_outputs();
    for (const int64_t n : {4, 6, 4}) {
      const Tensor x = tokens(n), label = random_integers({n, 6}, 0, kTags);
      const RandomState random = default_random_state();
      const float expected = train_step(net, x, label);
      set_default_random_state(random);
      EXPECT_EQ(train_step(model, x, label), expected) << n;
    }
    for (const NamedParameter& item : net.parameters())
      EXPECT_EQ(values(model.parameters()[item.name].data()), values(item.parameter.data()))
          << item.name;
    expect_same_outputs();
  }

  std::string error_with(const std::string& op, const std::string& field, const Json& value) {
    Json json = Json::parse(read_file(folder_ / "model/model.json"));
    for (Json& record : json["prediction"]["records"]) {
      if (record["op"] != op) continue;
      record[Json::json_pointer(field)] = value;
      folder_.write("model/model.json", json.dump());
      return error_text(ErrorKind::io, [&] { import_model(folder_ / "model"); });
    }
    ADD_FAILURE() << "no " << op;
    return "";
  }

  TempDir folder_;
};

TEST_F(ExportedSequences, AnLstmPredictsAndTrainsAsItsNet) { expect_same(tagger()); }

TEST_F(ExportedSequences, AGruAndAnRnnPredictAndTrainAsTheirNets) {
  Sequential net{Embedding(kWords, 8), GRU(5, {.bidirectional = true}), RNN(6), Dense(kTags)};
  net.initialize(init::xavier(), {.seed = 4});
  expect_same(net);
}

TEST_F(ExportedSequences, ATransformerPredictsAndTrainsAsItsNet) { expect_same(gpt()); }

TEST_F(ExportedSequences, IsPlannedInsideAndOut) {
  for (Sequential net : {tagger(), gpt()}) {
    ImportedModel model = through_a_file(net, tokens(4));
    model.hybridize();
    for (int i = 0; i < 5; ++i) {
      const Tensor x = tokens(4);
      EXPECT_EQ(values(model(x)), values(net(x)));
    }
    EXPECT_THAT(model.explain_plan(), HasSubstr("3 replayed"));
  }
}

TEST_F(ExportedSequences, TakesLengthsAndStatesAsArguments) {
  LSTM lstm(5, {.in_units = 3});
  lstm.initialize(init::xavier(), {.seed = 3});
  const auto function = [&](std::span<const Tensor> in) {
    const RecurrentOutputs out =
        lstm(in[0], {.lengths = in[1], .states = {transpose(in[2], 0, 1), transpose(in[3], 0, 1)}});
    return std::vector<Tensor>{out.y, out.states.h, out.states.c};
  };
  const auto arguments = [](int64_t n) {
    return std::vector<Tensor>{random_normal({n, 7, 3}), random_integers({n}, 0, 8),
                               random_normal({n, 1, 5}), random_normal({n, 1, 5})};
  };
  export_model(folder_ / "model", lstm, function, arguments(4));
  ImportedModel model = import_model(folder_ / "model");
  for (const int64_t n : {4, 1, 6}) {
    const std::vector<Tensor> x = arguments(n);
    const std::vector<Tensor> got = model.call(x), expected = function(x);
    ASSERT_EQ(got.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(values(got[i]), values(expected[i])) << n << ' ' << i;
  }
  std::vector<Tensor> too_long = arguments(2);
  too_long[1] = Tensor::of<int64_t>({3, 8});
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { model.call(too_long); }),
              HasSubstr("recurrent: the length of sequence 1 is 8; it must be from 0 to 7"));
}

TEST_F(ExportedSequences, TakesAMaskThatHidesAllFromAQuery) {
  MultiHeadAttention net(6, 2);
  net.initialize(init::xavier(), {.seed = 3});
  const auto function = [&](std::span<const Tensor> in) {
    return std::vector<Tensor>{net(in[0], in[1], in[2])};
  };
  const auto arguments = [](int64_t n) {
    const Tensor mask = random_integers({n, 1, 3, 4}, 0, 2) > 0;
    slice(mask, 2, 0, 1).fill(false);
    return std::vector<Tensor>{random_normal({n, 3, 6}), random_normal({n, 4, 6}), mask};
  };
  function(arguments(2));
  export_model(folder_ / "model", net, function, arguments(4));
  ImportedModel model = import_model(folder_ / "model");
  for (const int64_t n : {4, 2}) {
    const std::vector<Tensor> x = arguments(n);
    const std::vector<float> got = values(model.call(x)[0]);
    EXPECT_EQ(got, values(function(x)[0]));
    for (const float v : got) EXPECT_TRUE(std::isfinite(v));
  }
}

// --- errors ---
TEST_F(ExportedSequences, AnotherLengthIsAnErrorThatNamesTheArgument) {
  Sequential net = gpt();
  ImportedModel model = through_a_file(net, tokens(4));
  EXPECT_THAT(error_text(ErrorKind::invalid, [&] { model(tokens(4, 5)); }),
              HasSubstr("argument 0 is i64 [4, 5]; expected i64 [N, 6]"));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           model(random_normal({4, 6}));
                         }),
              HasSubstr("argument 0 is f32 [4, 6]; expected i64 [N, 6]"));
}

TEST_F(ExportedSequences, ADamagedRecordNamesItsField) {
  Sequential lstm = tagger(), transformer = gpt();
  export_model(folder_ / "model", lstm, tokens(4));
  EXPECT_THAT(error_with("recurrent", "/attributes/cell", "lstmm"), HasSubstr("attributes.cell"));
  export_model(folder_ / "model", lstm, tokens(4));
  EXPECT_THAT(error_with("recurrent", "/inputs/1", 0), HasSubstr("prediction.records["));
  export_model(folder_ / "model", transformer, tokens(4));
  EXPECT_THAT(error_with("attention", "/attributes/causal", 3), HasSubstr("attributes.causal"));
  export_model(folder_ / "model", transformer, tokens(4));
  EXPECT_THAT(error_with("attention", "/inputs/2", nullptr), HasSubstr("prediction.records["));
}

TEST_F(ExportedSequences, WeightsOfAnotherExportAreRefused) {
  Sequential a = tagger(), b = tagger();
  b(tokens(4));
  b.initialize(init::xavier(), {.reset = true, .seed = 9});
  export_model(folder_ / "model", a, tokens(4));
  export_model(folder_ / "other", b, tokens(4));
  write_file(folder_ / "model/model.safetensors", read_file(folder_ / "other/model.safetensors"));
  EXPECT_THAT(error_text(ErrorKind::io, [&] { import_model(folder_ / "model"); }),
              HasSubstr("model.safetensors"));
}

}  // namespace
}  // namespace thalweg::model
