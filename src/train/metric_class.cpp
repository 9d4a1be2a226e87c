#include <cmath>
#include <limits>

#include "base/fail.h"
#include "train/class_pairs.h"

namespace thalweg::metric {
namespace {

using train::class_pairs;
using train::ClassPairs;
using train::Figures;
using train::Metric;
using train::Observation;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Sums: right, all.
class HitRate : public Metric {
 public:
  using Metric::Metric;
  Figures figures() const override {
    return {{name(), sums_.empty() || sums_[1] == 0 ? kNaN : sums_[0] / sums_[1]}};
  }
  bool greater_is_better() const override { return true; }

 protected:
  void count(double right, double all) {
    sums_.resize(2);
    sums_[0] += right;
    sums_[1] += all;
  }
};

class Accuracy final : public HitRate {
 public:
  explicit Accuracy(const AccuracyOptions& options) : HitRate("accuracy"), options_(options) {}
  std::unique_ptr<Metric> fresh() const override { return std::make_unique<Accuracy>(options_); }

 private:
  void add(const Observation& batch) override {
    const ClassPairs& pairs = class_pairs(name(), batch, options_.axis, options_.threshold);
    double right = 0, all = 0;
    for (size_t i = 0; i < pairs.predicted.size(); ++i) {
      all += pairs.weights[i];
      if (pairs.predicted[i] == pairs.labelled[i]) right += pairs.weights[i];
    }
    count(right, all);
  }

  AccuracyOptions options_;
};

class TopK final : public HitRate {
 public:
  explicit TopK(const TopKOptions& options)
      : HitRate(fmt::format("top_{}_accuracy", options.k)), options_(options) {
    if (options.k < 1) fail_invalid("top_k: k is {}; at least 1", options.k);
  }
  std::unique_ptr<Metric> fresh() const override { return std::make_unique<TopK>(options_); }

 private:
  void add(const Observation& batch) override {
    // The pairs check labels and shapes; which class is the largest does not matter.
    const ClassPairs& pairs = class_pairs(name(), batch, options_.axis, 0);
    if (!is_floating(batch.output.dtype()) || batch.output.dims() < 2)
      fail_invalid("{}: it needs scores of the classes; output is {} {}", name(),
                   to_string(batch.output.shape()), thalweg::name(batch.output.dtype()));
    const train::ScoreLayout layout = train::score_layout(name(), batch.output, options_.axis);
    if (layout.classes < 2)
      fail_invalid("{}: the output {} has a single score", name(), to_string(batch.output.shape()));
    double right = 0, all = 0;
    visit_dtype(batch.output.dtype(), [&]<typename T>(T) {
      const T* scores = batch.output.data<T>();
      for (size_t i = 0; i < pairs.labelled.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const T* first =
            scores + at / layout.inner * layout.classes * layout.inner + at % layout.inner;
        all += pairs.weights[i];
        if (rank(first, layout, pairs.labelled[i]) < options_.k) right += pairs.weights[i];
      }
    });
    count(right, all);
  }

  // How many classes come before `label`.
  template <typename T>
  static int64_t rank(const T* first, const train::ScoreLayout& layout, int64_t label) {
    const auto own = static_cast<double>(first[label * layout.inner]);
    if (own != own) return std::numeric_limits<int64_t>::max();
    int64_t before = 0;
    for (int64_t c = 0; c < layout.classes; ++c) {
      const auto score = static_cast<double>(first[c * layout.inner]);
      before += score > own || score != score || (score == own && c < label);
    }
    return before;
  }

  TopKOptions options_;
};

enum class Share { precision, recall, f1 };

// Sums: right, predicted and labelled of each class.
class ClassShare final : public Metric {
 public:
  ClassShare(std::string name, Share share, const ClassOptions& options)
      : Metric(std::move(name)), share_(share), options_(options) {
    if (options.classes < 0 || options.of_class.value_or(0) < 0)
      fail_invalid("{}: classes {} and of_class {}; they must not be negative", this->name(),
                   options.classes, options.of_class.value_or(0));
  }
  std::unique_ptr<Metric> fresh() const override {
    return std::make_unique<ClassShare>(name(), share_, options_);
  }
  bool greater_is_better() const override { return true; }

  Figures figures() const override {
    const size_t classes = sums_.size() / 3;
    if (classes == 0) return {{name(), kNaN}};
    if (options_.of_class) {
      const auto c = static_cast<size_t>(*options_.of_class);
      if (c >= classes)
        fail_invalid("{}: of_class is {}; there are {} classes", name(), c, classes);
      return {{name(), share(sums_[c], sums_[classes + c], sums_[2 * classes + c])}};
    }
    double right = 0, predicted = 0, labelled = 0, total = 0;
    int64_t present = 0;
    for (size_t c = 0; c < classes; ++c) {
      const double p = sums_[classes + c], l = sums_[2 * classes + c];
      right += sums_[c];
      predicted += p;
      labelled += l;
      if (p == 0 && l == 0) continue;
      ++present;
      total += share(sums_[c], p, l);
    }
    if (present == 0) return {{name(), kNaN}};
    const bool micro = options_.average == Average::micro;
    return {
        {name(), micro ? share(right, predicted, labelled) : total / static_cast<double>(present)}};
  }

 private:
  double share(double right, double predicted, double labelled) const {
    if (share_ == Share::f1) return ratio(2 * right, predicted + labelled);
    return ratio(right, share_ == Share::precision ? predicted : labelled);
  }

  void add(const Observation& batch) override {
    const ClassPairs& pairs =
        class_pairs(name(), batch, options_.axis, options_.threshold, options_.classes);
    if (pairs.classes == 0)
      fail_invalid("{}: the output holds class numbers; set .classes", name());
    const auto classes = static_cast<size_t>(pairs.classes);
    if (!sums_.empty() && sums_.size() != 3 * classes)
      fail_invalid("{}: {} classes after {}", name(), classes, sums_.size() / 3);
    sums_.resize(3 * classes);
    for (size_t i = 0; i < pairs.predicted.size(); ++i) {
      const auto p = static_cast<size_t>(pairs.predicted[i]);
      const auto l = static_cast<size_t>(pairs.labelled[i]);
      if (p == l) sums_[p] += pairs.weights[i];
      sums_[classes + p] += pairs.weights[i];
      sums_[2 * classes + l] += pairs.weights[i];
    }
  }

  Share share_;
  ClassOptions options_;
};

// Sums: the matrix.
class Confusion final : public Metric {
 public:
  explicit Confusion(const ConfusionOptions& options) : Metric("confusion"), options_(options) {}
  std::unique_ptr<Metric> fresh() const override { return std::make_unique<Confusion>(options_); }
  bool greater_is_better() const override { return true; }

  Figures figures() const override {
    const auto classes = static_cast<size_t>(std::sqrt(static_cast<double>(sums_.size())) + 0.5);
    double right = 0, all = 0;
    for (size_t i = 0; i < sums_.size(); ++i) {
      all += sums_[i];
      if (i % (classes + 1) == 0) right += sums_[i];
    }
    return {{name(), all > 0 ? right / all : kNaN}};
  }

 private:
  void add(const Observation& batch) override {
    const ClassPairs& pairs =
        class_pairs(name(), batch, options_.axis, options_.threshold, options_.classes);
    if (pairs.classes == 0)
      fail_invalid("{}: the output holds class numbers; set .classes", name());
    const auto classes = static_cast<size_t>(pairs.classes);
    if (!sums_.empty() && sums_.size() != classes * classes)
      fail_invalid("{}: {} classes after a matrix of {} numbers", name(), classes, sums_.size());
    sums_.resize(classes * classes);
    for (size_t i = 0; i < pairs.predicted.size(); ++i) {
      const auto row = static_cast<size_t>(pairs.labelled[i]);
      sums_[row * classes + static_cast<size_t>(pairs.predicted[i])] += pairs.weights[i];
    }
  }

  ConfusionOptions options_;
};

}  // namespace

MetricPtr accuracy(const AccuracyOptions& options) { return std::make_shared<Accuracy>(options); }
MetricPtr top_k(const TopKOptions& options) { return std::make_shared<TopK>(options); }
MetricPtr precision(const ClassOptions& options) {
  return std::make_shared<ClassShare>("precision", Share::precision, options);
}
MetricPtr recall(const ClassOptions& options) {
  return std::make_shared<ClassShare>("recall", Share::recall, options);
}
MetricPtr f1(const ClassOptions& options) {
  return std::make_shared<ClassShare>("f1", Share::f1, options);
}
MetricPtr confusion(const ConfusionOptions& options) {
  return std::make_shared<Confusion>(options);
}

}  // namespace thalweg::metric
