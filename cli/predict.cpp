#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/sample_file.h"
#include "cli/trained_net.h"

namespace thalweg::cli {
namespace {

constexpr int64_t kBatch = 256;

std::vector<double> probabilities(std::span<const float> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> result(scores.size());
  double sum = 0;
  for (size_t i = 0; i < scores.size(); ++i) sum += result[i] = std::exp(scores[i] - largest);
  for (double& p : result) p /= sum;
  return result;
}

// Prints what the net says of each sample.
class Printer {
 public:
  Printer(const PredictOptions& options, std::vector<std::string> classes)
      : options_(options), classes_(std::move(classes)) {}

  void print(const std::string& file, int64_t sample, std::span<const float> output) const {
    if (classes_.empty()) {
      print_numbers(file, sample, output);
    } else {
      print_classes(file, sample, probabilities(output));
    }
  }

 private:
  void print_numbers(const std::string& file, int64_t sample, std::span<const float> output) const {
    if (options_.json) {
      print_json({{"file", file}, {"sample", sample}, {"output", output}});
      return;
    }
    fmt::print("{}:{}  {}\n", file, sample, fmt::join(output, " "));
  }

  void print_classes(const std::string& file, int64_t sample, const std::vector<double>& p) const {
    std::vector<size_t> order(p.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] > p[b]; });
    order.resize(std::min(order.size(), static_cast<size_t>(options_.top)));
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    std::string text;
    for (const size_t i : order) {
      list.push_back({{"class", i}, {"name", classes_[i]}, {"probability", p[i]}});
      text += fmt::format("  {} {:.4f}", classes_[i], p[i]);
    }
    if (options_.json) {
      print_json({{"file", file}, {"sample", sample}, {"classes", list}});
    } else {
      fmt::print("{}:{}{}\n", file, sample, text);
    }
  }

  static void print_json(const nlohmann::ordered_json& object) {
    fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  const PredictOptions& options_;
  std::vector<std::string> classes_;
};

// Names of the classes that the net tells apart; none where its outputs are no class scores.
std::vector<std::string> class_names(const Recipe& recipe, const RecipeData& data,
                                     int64_t outputs) {
  std::vector<std::string> names;
  if (recipe.train.loss.kind->name != "softmax_cross_entropy") return names;
  names = data.raw_test.class_names();
  for (auto i = static_cast<int64_t>(names.size()); i < outputs; ++i) {
    names.push_back(std::to_string(i));
  }
  names.resize(static_cast<size_t>(outputs));
  return names;
}

}  // namespace

int run_predict(const PredictOptions& options) {
  const Device device = apply(options.common);
  Recipe recipe;
  load_recipe_of_run(recipe, options.run, {});
  const RecipeData data = load_data(recipe);
  nn::Sequential net = load_trained_net(recipe, options.run, options.weights, data.test, device);
  const data::Field field = data.raw_test.field();

  for (const std::string& file : options.files) {
    const data::ArrayDataset raw(read_samples(file, field.shape));
    data::DataLoader loader =
        transformed_for_test(recipe, raw).loader({.batch_size = kBatch, .seed = 0});
    int64_t sample = 0;
    for (const data::Batch& batch : loader) {
      const Tensor output = net(batch.data.to(device)).to(Device::cpu()).to(DType::f32);
      const int64_t width = output.size() / std::max<int64_t>(1, batch.size);
      const std::vector<float> values = output.to_vector<float>();
      const Printer printer(options, class_names(recipe, data, width));
      for (int64_t i = 0; i < batch.size; ++i) {
        printer.print(
            file, sample++,
            std::span(values).subspan(static_cast<size_t>(i * width), static_cast<size_t>(width)));
      }
    }
  }
  return kExitOk;
}

}  // namespace thalweg::cli
