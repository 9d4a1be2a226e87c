// Models that are damaged, hostile or newer: each a clear error, none a crash.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thalweg/base/file.h>
#include <thalweg/base/philox.h>
#include <thalweg/model/exported.h>
#include <thalweg/nn/basic.h>
#include <thalweg/nn/conv.h>
#include <thalweg/nn/dense.h>
#include <thalweg/nn/norm.h>
#include <thalweg/nn/pool.h>
#include <thalweg/nn/sequential.h>
#include <thalweg/ops/linear.h>
#include <thalweg/ops/reduce.h>
#include <thalweg/ops/shape.h>
#include <thalweg/ops/views.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/mutate.h"

namespace thalweg::model {
namespace {

using namespace nn;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

class ExportedDamage : public testing::Test {
 protected:
  ExportedDamage() {
    Sequential net{Conv2D(2, {.kernel = 3}),
                   BatchNorm(),
                   MaxPool2D(),
                   Lambda("shapes",
                          [](const Tensor& x) {
                            const Tensor y = permute(x, {0, 2, 3, 1});
                            const Tensor z = concat({slice(y, 1, 0, 2), slice(y, 1, 1, 3)}, 1);
                            return sum(reshape(z, {x.size(0), 4, -1}), {1}) + Tensor::ones({6});
                          }),
                   Dropout(0.5),
                   Dense(3)};
    net.initialize(init::xavier(), {.seed = 1});
    export_model(folder_ / "model", net, Tensor::ones({2, 1, 8, 8}));
    text_ = read_file(json_path());
    json_ = Json::parse(text_);
  }

  std::string json_path() const { return folder_ / "model/model.json"; }

  std::string error_of(const Json& json) {
    folder_.write("model/model.json", json.dump());
    return error_text(ErrorKind::io, [&] { import_model(folder_ / "model"); });
  }
  std::string error_with(const char* pointer, const Json& value) {
    Json changed = json_;
    changed[Json::json_pointer(pointer)] = value;
    return error_of(changed);
  }
  // Position of the first record of that op in prediction.
  std::string record(const std::string& op) const {
    const Json& records = json_["prediction"]["records"];
    for (size_t i = 0; i < records.size(); ++i) {
      if (records[i]["op"] == op) return "/prediction/records/" + std::to_string(i);
    }
    throw std::out_of_range(op);
  }
  std::string error_in(const std::string& op, const std::string& field, const Json& value) {
    return error_with((record(op) + field).c_str(), value);
  }

  /// Imports and runs what is there, for two batch sizes; false if that is refused.
  bool runs() {
    try {
      ImportedModel model = import_model(folder_ / "model");
      for (const int64_t n : {0, 3}) {
        const Shape shape = model.input_shape(0, n);
        if (element_count(shape) > 100000) continue;
        model(Tensor::ones(shape, {.dtype = model.input_dtype()}));
      }
      return true;
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::internal) << error.what();
      return false;
    }
  }

  TempDir folder_;
  std::string text_;
  Json json_;
};

TEST_F(ExportedDamage, NamesTheFieldWhatWasExpectedAndWhatWasFound) {
  EXPECT_TRUE(runs());
  EXPECT_THAT(error_with("/version", 2),
              HasSubstr("model.json is damaged; version: expected at most 1, what this version of "
                        "Thalweg reads, found 2"));
  EXPECT_THAT(error_with("/format", "other"), HasSubstr("format: expected 'format'"));
  EXPECT_THAT(error_with("/batch/size", -1), HasSubstr("batch.size: expected an integer from 0"));
  EXPECT_THAT(error_with("/tensors/0/dtype", "f33"),
              HasSubstr("tensors[0].dtype: expected a dtype, found \"f33\""));
  EXPECT_THAT(error_with("/tensors/0/shape", Json::array({"N"})),
              HasSubstr("tensors[0].shape: expected sizes that do not follow the batch"));
  EXPECT_THAT(error_with("/colour", 1), HasSubstr("found 'colour'"));
  EXPECT_THAT(error_in("linear", "/op", "linaer"), HasSubstr("did you mean 'linear'?"));
  EXPECT_THAT(error_in("linear", "/op", "batch_norm_vjp"),
              HasSubstr("expected an op that models may have"));
  EXPECT_THAT(error_in("linear", "/inputs/0", 500),
              HasSubstr("inputs[0]: expected a value that was computed before, found 500"));
  EXPECT_THAT(error_in("linear", "/attributes/colour", 1),
              HasSubstr("expected attributes of linear, found 'colour'"));
  EXPECT_THAT(error_in("linear", "/outputs/0/shape/0", "N*N"),
              HasSubstr("expected a size such as 8, 'N' or '4*N+1', found \"N*N\""));
  Json without = json_;
  without.erase("prediction");
  EXPECT_THAT(error_of(without), HasSubstr("prediction: expected a value, found none"));
}

TEST_F(ExportedDamage, ChecksShapesAgainstWhatOpsGive) {
  EXPECT_THAT(error_in("linear", "/outputs/0/shape/1", 5),
              HasSubstr("outputs: expected f32 [2, 3], what the op gives, found f32 [2, 5]"));
  EXPECT_THAT(error_in("permute", "/attributes/axes", Json::array({0, 2, 3, 9})),
              HasSubstr("axes"));
  EXPECT_THAT(error_in("reshape", "/attributes/shape", Json::array({"N", 4, 7})),
              HasSubstr("do not fill shape [2, 4, 7]"));
  EXPECT_THAT(error_in("slice", "/attributes/start", 2), HasSubstr("slice: 2 positions from 2 on"));
  EXPECT_THAT(error_in("concat", "/attributes/axis", 4), HasSubstr("concat: axis 4"));
  EXPECT_THAT(error_in("linear", "/inputs", Json::array({0})), HasSubstr("linear: 1 inputs"));
  EXPECT_THAT(error_in("add", "/inputs/1", nullptr), HasSubstr("add: 2 inputs"));
}

TEST_F(ExportedDamage, ChecksSizesOfAnotherBatchBeforeItRuns) {
  Json changed = json_;
  // Right for the example's batch of 2 alone.
  changed[Json::json_pointer(record("reshape") + "/attributes/shape/0")] = 2;
  folder_.write("model/model.json", changed.dump());
  ImportedModel model = import_model(folder_ / "model");
  model(Tensor::ones({2, 1, 8, 8}));
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           model(Tensor::ones({5, 1, 8, 8}));
                         }),
              HasSubstr("do not fill shape [2, 4"));
}

TEST_F(ExportedDamage, RefusesWeightsOfAnotherModel) {
  std::string weights = read_file(folder_ / "model/model.safetensors");
  weights.back() = static_cast<char>(weights.back() ^ 1);
  write_file(folder_ / "model/model.safetensors", weights);
  EXPECT_THAT(error_text(ErrorKind::io, [&] { import_model(folder_ / "model"); }),
              HasSubstr("does not belong to"));
}

TEST_F(ExportedDamage, SaysWhereTextIsNotJson) {
  write_file(json_path(), text_.substr(0, 100));
  EXPECT_THAT(error_text(ErrorKind::io, [&] { import_model(folder_ / "model"); }),
              HasSubstr("is not JSON; at byte"));
  EXPECT_THAT(error_text(ErrorKind::io, [&] { import_model(folder_ / "nothing"); }),
              HasSubstr("nothing"));
}

TEST_F(ExportedDamage, NeverCrashesOnMutatedText) {
  uint64_t refused = 0;
  const auto rounds = static_cast<uint64_t>(data::fuzz_rounds(1000));
  for (uint64_t round = 0; round < rounds; ++round) {
    Philox random(round);
    folder_.write("model/model.json", data::mutated(text_, random));
    refused += runs() ? 0 : 1;
  }
  EXPECT_GT(refused, rounds / 2);
}

TEST_F(ExportedDamage, NeverCrashesOnWrongValues) {
  const Json flat = json_.flatten();
  std::vector<std::string> places;
  for (const auto& [place, value] : flat.items()) {
    if (!place.starts_with("/layers")) places.push_back(place);
  }
  uint64_t refused = 0;
  const auto rounds = static_cast<uint64_t>(data::fuzz_rounds(3000));
  for (uint64_t round = 0; round < rounds; ++round) {
    Philox random(round);
    Json changed = json_;
    Json& value =
        changed[Json::json_pointer(places[random.bounded(static_cast<uint32_t>(places.size()))])];
    const Json other[] = {0,
                          1,
                          2,
                          3,
                          7,
                          -1,
                          -5,
                          1e300,
                          0.5,
                          nullptr,
                          true,
                          "N",
                          "3*N",
                          "N-2",
                          "-1*N+4",
                          "nan",
                          int64_t{1} << 40,
                          std::numeric_limits<int64_t>::max(),
                          std::numeric_limits<int64_t>::min(),
                          flat[places[random.bounded(static_cast<uint32_t>(places.size()))]]};
    value = other[random.bounded(static_cast<uint32_t>(std::size(other)))];
    folder_.write("model/model.json", changed.dump());
    refused += runs() ? 0 : 1;
  }
  EXPECT_GT(refused, rounds / 2);
  EXPECT_LT(refused, rounds);
}

}  // namespace
}  // namespace thalweg::model
