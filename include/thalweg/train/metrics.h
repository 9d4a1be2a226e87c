#pragma once

// What a net is judged by. A metric is a list of sums over samples, and its figures are made from
// the sums at the end: so a value over uneven batches is exactly that over their samples, sample
// weights count everywhere, and the sums of several ranks are added.
//
//   auto accuracy = metric::accuracy();
//   accuracy->update({.output = net(batch.data), .label = batch.label});
//   accuracy->figures();                     // {{"accuracy", 0.8871}}

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <thalweg/tensor/tensor.h>
#include <thalweg/train/figures.h>

namespace thalweg::train {

/// What a metric sees of one batch of N samples. Undefined tensors are absent; that a metric needs
/// one which is absent is an Error{invalid}.
struct Observation {
  Tensor output = {};  ///< of the net, [N, ...], floating unless said otherwise
  Tensor label = {};   ///< [N, ...]
  Tensor loss = {};    ///< [N] or [N, ...], or without dimensions the mean over the batch
  Tensor weight = {};  ///< [N], not negative: how much each sample counts; absent: 1. What counts
                       ///< 0 may have any label
};

/// A metric and its sums. One thread at a time.
class THALWEG_API Metric {
 public:
  virtual ~Metric() = default;

  /// The name of its figure, or the first part of its figures' names.
  const std::string& name() const { return name_; }
  /// Adds a batch. Throws Error{invalid} for shapes that do not fit; nothing is added then.
  void update(const Observation& batch);
  /// NaN where nothing was seen.
  virtual Figures figures() const = 0;
  /// The value of the first figure.
  double value() const { return figures().front().value; }
  /// True if more is better, as of an accuracy.
  virtual bool greater_is_better() const = 0;
  /// Another one of the same options, without sums.
  virtual std::unique_ptr<Metric> fresh() const = 0;

  void reset();
  /// Adds what another one of the same options saw.
  void merge(const Metric& other);
  /// All that it has seen. Their number may grow from 0 at the first update.
  std::span<const double> sums() const { return sums_; }
  void set_sums(std::span<const double> sums) { sums_.assign(sums.begin(), sums.end()); }

 protected:
  explicit Metric(std::string name) : name_(std::move(name)) {}
  Metric(const Metric&) = default;

  virtual void add(const Observation& batch) = 0;

  std::vector<double> sums_;

 private:
  std::string name_;
};

}  // namespace thalweg::train

namespace thalweg::metric {

using MetricPtr = std::shared_ptr<train::Metric>;

struct AccuracyOptions {
  int64_t axis = -1;     ///< of the output: scores of the classes
  double threshold = 0;  ///< an output of the labels' own shape is class 1 above it (0: logits)
};
/// "accuracy": the part of labels that the output's largest score names. Labels: class numbers, the
/// output's shape without `axis`; or scores of the output's shape, whose largest is taken. An
/// integer or bool output holds class numbers itself. Label -1, or a row of zeros, is none and does
/// not count, here and in the figures below that are made from classes. The first of equal scores
/// counts; NaN is the largest score of all (NumPy's rule).
THALWEG_API MetricPtr accuracy(const AccuracyOptions& options = {});

struct TopKOptions {
  int64_t k = 5;      ///< 1 <= k; all classes if there are fewer
  int64_t axis = -1;  ///< of the output: scores of the classes
};
/// "top_5_accuracy": the part of labels whose score is among the k largest. Of equal scores those
/// of lower classes come first; a label whose score is NaN is not among them.
THALWEG_API MetricPtr top_k(const TopKOptions& options = {});

/// How one figure is made from those of the classes.
enum class Average : uint8_t {
  macro,  ///< the mean over the classes that occur among labels or predictions
  micro   ///< from the sums over all classes
};

struct ClassOptions {
  Average average = Average::macro;
  std::optional<int64_t> of_class = {};  ///< the figure of one class alone, e.g. 1 of two
  int64_t axis = -1;                     ///< as of accuracy
  double threshold = 0;
  int64_t classes = 0;  ///< 0: as many as the output has scores, 2 where it has none
};
/// "precision": right / predicted as the class, "recall": right / labelled as the class, "f1": 2 *
/// right / (predicted + labelled); 0 where the divisor is 0 (scikit-learn's rules).
THALWEG_API MetricPtr precision(const ClassOptions& options = {});
THALWEG_API MetricPtr recall(const ClassOptions& options = {});
THALWEG_API MetricPtr f1(const ClassOptions& options = {});

struct ConfusionOptions {
  int64_t axis = -1;
  double threshold = 0;
  int64_t classes = 0;
};
/// How often each class is taken for which. Its figure is the accuracy, named "confusion"; sums()
/// is the matrix, [classes, classes] with labels as rows and predictions as columns.
THALWEG_API MetricPtr confusion(const ConfusionOptions& options = {});

/// "mae", "mse", "rmse": over the elements of output - label, which have one shape.
THALWEG_API MetricPtr mae();
THALWEG_API MetricPtr mse();
THALWEG_API MetricPtr rmse();

/// "loss": the mean of the losses.
THALWEG_API MetricPtr loss();
/// "perplexity": exp of the mean of the losses, which are cross-entropies in nats.
THALWEG_API MetricPtr perplexity();

/// By name with default options, e.g. for recipes: "accuracy", "top_5_accuracy" (any k),
/// "precision", "recall", "f1", "confusion", "mae", "mse", "rmse", "loss", "perplexity". Throws
/// Error{invalid} with the nearest name for another.
THALWEG_API MetricPtr by_name(std::string_view name);

}  // namespace thalweg::metric
