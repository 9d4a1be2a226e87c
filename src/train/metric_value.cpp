#include <cmath>
#include <limits>

#include "base/fail.h"
#include "train/class_pairs.h"

namespace thalweg::metric {
namespace {

using train::Figures;
using train::Metric;
using train::Observation;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Sums: of the values times their weights, of the weights.
class MeanMetric : public Metric {
 public:
  using Metric::Metric;
  Figures figures() const override {
    return {{name(), sums_.empty() || sums_[1] == 0 ? kNaN : finish(sums_[0] / sums_[1])}};
  }
  bool greater_is_better() const override { return false; }

 protected:
  virtual double finish(double mean) const { return mean; }

  void count(double total, double weight) {
    sums_.resize(2);
    sums_[0] += total;
    sums_[1] += weight;
  }

  // Adds value(i) for i < count, weighted.
  template <typename Value>
  void add_values(const Tensor& weight, int64_t samples, int64_t count_of_values, Value&& value) {
    static thread_local std::vector<double> weights;
    train::value_weights(name(), weight, samples, count_of_values, weights);
    double total = 0, all = 0;
    for (int64_t i = 0; i < count_of_values; ++i) {
      const double w = weights.empty() ? 1 : weights[static_cast<size_t>(i)];
      // A sample that does not count may hold anything.
      if (w > 0) total += w * value(i);
      all += w;
    }
    count(total, all);
  }
};

enum class Distance { absolute, square, root };

class ErrorMetric final : public MeanMetric {
 public:
  ErrorMetric(std::string name, Distance distance)
      : MeanMetric(std::move(name)), distance_(distance) {}
  std::unique_ptr<Metric> fresh() const override {
    return std::make_unique<ErrorMetric>(name(), distance_);
  }

 private:
  double finish(double mean) const override {
    return distance_ == Distance::root ? std::sqrt(mean) : mean;
  }

  void add(const Observation& batch) override {
    train::require(name(), "output", batch.output);
    train::require(name(), "label", batch.label);
    if (batch.output.shape() != batch.label.shape() || batch.output.dims() < 1)
      fail_invalid("{}: labels {} and output {} must have one shape, [N, ...]", name(),
                   to_string(batch.label.shape()), to_string(batch.output.shape()));
    if (batch.output.dtype() == DType::f32 && batch.label.dtype() == DType::f32)
      add_errors(batch, batch.output.data<float>(), batch.label.data<float>());
    else {
      const Tensor output = batch.output.to(DType::f64), label = batch.label.to(DType::f64);
      add_errors(batch, output.data<double>(), label.data<double>());
    }
  }

  template <typename T>
  void add_errors(const Observation& batch, const T* output, const T* label) {
    add_values(batch.weight, batch.output.size(0), batch.output.size(), [&](int64_t i) {
      const double error = static_cast<double>(output[i]) - static_cast<double>(label[i]);
      return distance_ == Distance::absolute ? std::fabs(error) : error * error;
    });
  }

  Distance distance_;
};

class LossMetric final : public MeanMetric {
 public:
  LossMetric(std::string name, bool exponential)
      : MeanMetric(std::move(name)), exponential_(exponential) {}
  std::unique_ptr<Metric> fresh() const override {
    return std::make_unique<LossMetric>(name(), exponential_);
  }

 private:
  double finish(double mean) const override { return exponential_ ? std::exp(mean) : mean; }

  void add(const Observation& batch) override {
    train::require(name(), "loss", batch.loss);
    if (batch.loss.dims() == 0) return add_mean(batch);
    visit_dtype(batch.loss.dtype(), [&]<typename T>(T) {
      const T* loss = batch.loss.data<T>();
      add_values(batch.weight, batch.loss.size(0), batch.loss.size(),
                 [&](int64_t i) { return static_cast<double>(loss[i]); });
    });
  }

  // The mean over a batch stands for as many samples as the batch has.
  void add_mean(const Observation& batch) {
    const Tensor& sized = batch.label.defined() ? batch.label : batch.output;
    const int64_t samples = sized.defined() && sized.dims() > 0 ? sized.size(0) : 1;
    const double mean = batch.loss.item<double>();
    add_values(batch.weight, samples, samples, [&](int64_t) { return mean; });
  }

  bool exponential_;
};

}  // namespace

MetricPtr mae() { return std::make_shared<ErrorMetric>("mae", Distance::absolute); }
MetricPtr mse() { return std::make_shared<ErrorMetric>("mse", Distance::square); }
MetricPtr rmse() { return std::make_shared<ErrorMetric>("rmse", Distance::root); }
MetricPtr loss() { return std::make_shared<LossMetric>("loss", false); }
MetricPtr perplexity() { return std::make_shared<LossMetric>("perplexity", true); }

}  // namespace thalweg::metric
