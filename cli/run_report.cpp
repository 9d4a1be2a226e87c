#include "cli/run_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/recipe/write.h"
#include "cli/version.h"
#include "train/on_device.h"

namespace thalweg::cli {
namespace {

constexpr size_t kWorst = 24;
constexpr int64_t kLeastSide = 8;  // of what is shown as an image

// Class scores and labels of a test batch, as plain numbers.
struct Scores {
  std::vector<float> values;  // [samples, classes]
  std::vector<int64_t> labels;
  int64_t classes = 0;

  std::span<const float> row(size_t i) const {
    return std::span(values).subspan(i * static_cast<size_t>(classes),
                                     static_cast<size_t>(classes));
  }
};

bool is_classification(const Tensor& output, const Tensor& label) {
  if (output.dims() != 2 || output.size(1) < 2 || !label.defined()) return false;
  return label.dims() == 1 ? is_integer(label.dtype()) : label.shape() == output.shape();
}

// The class of each sample, also where labels are rows with a 1 at the class.
std::vector<int64_t> classes_of(const Tensor& label) {
  if (label.dims() == 1) return label.to(DType::i64).to_vector<int64_t>();
  return argmax(label.to(Device::cpu()), 1).to(DType::i64).to_vector<int64_t>();
}

struct WorstSample {
  int64_t index = 0;
  int64_t truth = 0, predicted = 0;
  double truth_probability = 0, predicted_probability = 0;
};

double probability(std::span<const float> row, int64_t of) {
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const float score : row) sum += std::exp(score - largest);
  return std::exp(row[static_cast<size_t>(of)] - largest) / sum;
}

// Judges every test sample: the confusion matrix, and those that are furthest from right.
class Judge {
 public:
  void see(const data::Batch& batch, const train::Observation& seen) {
    if (!is_classification(seen.output, seen.label)) return;
    const Scores scores{seen.output.to(DType::f32).to_vector<float>(), classes_of(seen.label),
                        seen.output.size(1)};
    classes_ = scores.classes;
    counts_.resize(static_cast<size_t>(classes_ * classes_));
    for (size_t i = 0; i < scores.labels.size(); ++i) {
      judge(scores.row(i), scores.labels[i], batch.samples()[i].index);
    }
  }

  int64_t classes() const { return classes_; }
  const std::vector<int64_t>& counts() const { return counts_; }
  /// The worst first.
  std::vector<WorstSample> worst() {
    std::sort_heap(worst_.begin(), worst_.end(), is_worse);
    return worst_;
  }

 private:
  static bool is_worse(const WorstSample& a, const WorstSample& b) {
    return std::pair(a.truth_probability, a.index) < std::pair(b.truth_probability, b.index);
  }

  void judge(std::span<const float> row, int64_t truth, int64_t index) {
    if (truth < 0 || truth >= classes_) return;  // a label that the loss ignores
    const int64_t predicted = std::max_element(row.begin(), row.end()) - row.begin();
    ++counts_[static_cast<size_t>(truth * classes_ + predicted)];
    if (predicted == truth) return;
    worst_.push_back(
        {index, truth, predicted, probability(row, truth), probability(row, predicted)});
    std::push_heap(worst_.begin(), worst_.end(), is_worse);
    if (worst_.size() <= kWorst) return;
    std::pop_heap(worst_.begin(), worst_.end(), is_worse);
    worst_.pop_back();
  }

  int64_t classes_ = 0;
  std::vector<int64_t> counts_;
  std::vector<WorstSample> worst_;  // a heap, the least bad on top
};

// [height, width, channels] of samples that are images: [H, W], [C, H, W], or a square in a row.
struct ImageShape {
  int64_t height = 0, width = 0, channels = 1;
};

ImageShape image_shape(const Shape& sample) {
  if (sample.size() == 2) return {sample[0], sample[1], 1};
  if (sample.size() == 3 && (sample[0] == 1 || sample[0] == 3)) {
    return {sample[1], sample[2], sample[0]};
  }
  if (sample.size() != 1) return {};
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(sample[0]))));
  return side * side == sample[0] ? ImageShape{side, side, 1} : ImageShape{};
}

std::vector<uint8_t> pixels_of(const Tensor& sample, const ImageShape& shape) {
  const std::vector<float> values = sample.to(DType::f32).to_vector<float>();
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const float scale = *high > *low ? 255 / (*high - *low) : 0;
  const int64_t plane = shape.height * shape.width;
  std::vector<uint8_t> pixels(values.size());
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t i = 0; i < plane; ++i) {
      const float value = values[static_cast<size_t>(c * plane + i)];
      pixels[static_cast<size_t>(i * shape.channels + c)] =
          static_cast<uint8_t>(std::lround((value - *low) * scale));
    }
  }
  return pixels;
}

std::vector<std::string> class_names(const DataHalf& set, int64_t classes) {
  std::vector<std::string> names = set.class_names();
  for (auto i = static_cast<int64_t>(names.size()); i < classes; ++i) {
    names.push_back(std::to_string(i));
  }
  names.resize(static_cast<size_t>(classes));
  return names;
}

void add_worst(train::ReportData& report, Judge& judge, const data::Dataset& raw_test) {
  const ImageShape shape = image_shape(raw_test.fields().front().shape);
  if (shape.height < kLeastSide || shape.width < kLeastSide) return;
  const std::vector<std::string>& names = report.confusion.classes;
  for (const WorstSample& sample : judge.worst()) {
    report.worst.push_back({.index = sample.index,
                            .height = shape.height,
                            .width = shape.width,
                            .channels = shape.channels,
                            .pixels = pixels_of(raw_test[sample.index].data, shape),
                            .truth = names[static_cast<size_t>(sample.truth)],
                            .predicted = names[static_cast<size_t>(sample.predicted)],
                            .probability = sample.predicted_probability,
                            .truth_probability = sample.truth_probability});
  }
}

void add_test_results(train::ReportData& report, const RecipeData& data, nn::Sequential& net,
                      const train::LossFunction& loss) {
  Judge judge;
  data::DataLoader loader = make_test_loader(data.test);
  train::evaluate(
      net, loader, loss, {},
      [&](const data::Batch& batch, const train::Observation& seen) { judge.see(batch, seen); });
  if (judge.classes() == 0) return;
  report.confusion = {class_names(data.raw_test, judge.classes()), judge.counts()};
  if (data.raw_test.set()) add_worst(report, judge, *data.raw_test.set());
}

}  // namespace

void complete_report(train::ReportData& report, Recipe& recipe, const RecipeData& data,
                     nn::Sequential& net, const train::LossFunction& loss) {
  report.title = recipe.run.name;
  report.version = kVersion;
  report.data = describe(data);
  report.seed = static_cast<uint64_t>(recipe.run.seed);
  report.parameters = net.parameters().trainable().element_count();
  for (auto& [key, value] : recipe_settings(recipe.sections()))
    report.settings.push_back({key, value});
  report.net = nn::diagram(net, data.test.example().to(train::device_of(net.parameters())));
  add_test_results(report, data, net, loss);
}

}  // namespace thalweg::cli
