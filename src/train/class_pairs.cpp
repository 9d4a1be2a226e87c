#include "train/class_pairs.h"

#include <algorithm>

#include "base/fail.h"

namespace thalweg::train {
namespace {

Shape without_axis(const Shape& shape, int64_t axis) {
  Shape rest = shape;
  rest.erase(static_cast<size_t>(axis));
  return rest;
}

// The first of the largest scores; NaN is above all.
template <typename T>
int64_t first_largest(const T* scores, int64_t count, int64_t stride) {
  // Halves as float; what is none compares in its own type.
  using C = std::conditional_t<is_half(dtype_of<T>), float, T>;
  int64_t best = 0;
  auto best_score = static_cast<C>(scores[0]);
  for (int64_t c = 1; c < count; ++c) {
    const auto score = static_cast<C>(scores[c * stride]);
    if (score > best_score || (score != score && best_score == best_score)) {
      best = c;
      best_score = score;
    }
  }
  return best;
}

// The class of the largest score at each position.
void largest(const std::string& metric, const Tensor& scores, int64_t axis,
             std::vector<int64_t>& into) {
  const ScoreLayout layout = score_layout(metric, scores, axis);
  into.resize(static_cast<size_t>(layout.outer * layout.inner));
  visit_dtype(scores.dtype(), [&]<typename T>(T) {
    const T* at = scores.data<T>();
    int64_t* to = into.data();
    for (int64_t o = 0; o < layout.outer; ++o, at += layout.classes * layout.inner)
      for (int64_t i = 0; i < layout.inner; ++i)
        *to++ = first_largest(at + i, layout.classes, layout.inner);
  });
}

// A distribution of zeros is no label.
void mark_unlabelled(const std::string& metric, const Tensor& scores, int64_t axis,
                     std::vector<int64_t>& labelled) {
  const ScoreLayout layout = score_layout(metric, scores, axis);
  visit_dtype(scores.dtype(), [&]<typename T>(T) {
    for (size_t n = 0; n < labelled.size(); ++n) {
      const auto i = static_cast<int64_t>(n);
      const T* at =
          scores.data<T>() + i / layout.inner * layout.classes * layout.inner + i % layout.inner;
      bool zeros = true;
      for (int64_t c = 0; c < layout.classes && zeros; ++c)
        zeros = static_cast<double>(at[c * layout.inner]) == 0;
      if (zeros) labelled[n] = kNoLabel;
    }
  });
}

// 1 where the value is above the threshold, else 0.
void above(const Tensor& values, double threshold, std::vector<int64_t>& into) {
  into.clear();
  visit_dtype(values.dtype(), [&]<typename T>(T) {
    const T* at = values.data<T>();
    for (int64_t i = 0; i < values.size(); ++i)
      into.push_back(static_cast<double>(at[i]) > threshold);
  });
}

[[noreturn]] void fail_shapes(const std::string& metric, const Tensor& output,
                              const Tensor& label) {
  fail_invalid("{}: labels of shape {} {} do not fit an output of shape {} {}", metric,
               to_string(label.shape()), name(label.dtype()), to_string(output.shape()),
               name(output.dtype()));
}

void read_labels(const std::string& metric, const Tensor& output, const Tensor& label,
                 std::vector<int64_t>& into) {
  if (label.size() != output.size()) fail_shapes(metric, output, label);
  if (is_floating(label.dtype()))
    above(label, 0.5, into);
  else
    read_integers(label, into);
}

void require_below(const std::string& metric, const char* what, const std::vector<int64_t>& numbers,
                   int64_t classes) {
  const auto wrong = std::find_if(numbers.begin(), numbers.end(),
                                  [&](int64_t n) { return n < 0 || (classes && n >= classes); });
  if (wrong == numbers.end()) return;
  fail_invalid("{}: {} {} of the batch is class {}; there are {} classes, counted from 0", metric,
               what, wrong - numbers.begin(), *wrong,
               classes ? std::to_string(classes) : "no negative");
}

}  // namespace

void require(const std::string& metric, const char* what, const Tensor& tensor) {
  if (!tensor.defined()) fail_invalid("{}: it needs the {} of the batch", metric, what);
}

void read_integers(const Tensor& from, std::vector<int64_t>& into) {
  into.clear();
  visit_dtype(from.dtype(), [&]<typename T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const T* at = from.data<T>();
      into.assign(at, at + from.size());
    }
  });
}

ScoreLayout score_layout(const std::string& metric, const Tensor& scores, int64_t axis) {
  axis = normalize_axis(metric.c_str(), axis, scores.shape().size());
  ScoreLayout layout{1, scores.shape()[static_cast<size_t>(axis)], 1};
  for (int64_t d = 0; d < scores.dims(); ++d) {
    if (d != axis) (d < axis ? layout.outer : layout.inner) *= scores.size(d);
  }
  if (layout.classes < 1)
    fail_invalid("{}: the output {} has no classes", metric, to_string(scores.shape()));
  return layout;
}

void value_weights(const std::string& metric, const Tensor& weight, int64_t samples, int64_t count,
                   std::vector<double>& into) {
  into.clear();
  if (!weight.defined() || samples == 0) return;
  if (weight.dims() != 1 || weight.size() != samples)
    fail_invalid("{}: weights of shape {} for {} samples; expected [{}]", metric,
                 to_string(weight.shape()), samples, samples);
  visit_dtype(weight.dtype(), [&]<typename T>(T) {
    const T* at = weight.data<T>();
    for (int64_t i = 0; i < samples; ++i) {
      const auto w = static_cast<double>(at[i]);
      if (!(w >= 0)) fail_invalid("{}: weight {} is {}; it must not be negative", metric, i, w);
      into.insert(into.end(), static_cast<size_t>(count / samples), w);
    }
  });
}

const ClassPairs& class_pairs(const std::string& metric, const Observation& batch, int64_t axis,
                              double threshold, int64_t classes) {
  static thread_local ClassPairs pairs;
  require(metric, "output", batch.output);
  require(metric, "label", batch.label);
  const Tensor &output = batch.output, &label = batch.label;
  if (output.dims() < 1) fail_shapes(metric, output, label);
  pairs.classes = classes;
  if (!is_floating(output.dtype())) {
    if (label.shape() != output.shape() || is_floating(label.dtype()))
      fail_shapes(metric, output, label);
    read_integers(output, pairs.predicted);
    read_integers(label, pairs.labelled);
  } else if (const int64_t at = output.dims() == 1
                                    ? 0
                                    : normalize_axis(metric.c_str(), axis, output.shape().size());
             output.dims() == 1 || output.size(at) == 1 ||
             (label.shape() == output.shape() && !is_floating(label.dtype()))) {
    above(output, threshold, pairs.predicted);
    read_labels(metric, output, label, pairs.labelled);
    if (!classes) pairs.classes = 2;
  } else {
    largest(metric, output, at, pairs.predicted);
    if (!classes) pairs.classes = output.size(at);
    if (label.shape() == output.shape()) {
      largest(metric, label, at, pairs.labelled);
      mark_unlabelled(metric, label, at, pairs.labelled);
    } else if (label.shape() == without_axis(output.shape(), at) && !is_floating(label.dtype())) {
      read_integers(label, pairs.labelled);
    } else {
      fail_shapes(metric, output, label);
    }
  }
  const auto count = static_cast<int64_t>(pairs.predicted.size());
  value_weights(metric, batch.weight, output.size(0), count, pairs.weights);
  if (pairs.weights.empty()) pairs.weights.assign(pairs.predicted.size(), 1);
  for (size_t i = 0; i < pairs.weights.size(); ++i) {
    if (pairs.labelled[i] == kNoLabel) pairs.weights[i] = 0;
  }
  // What does not count may be of any class, such as one that stands for "no label".
  for (size_t i = 0; i < pairs.weights.size(); ++i) {
    if (pairs.weights[i] == 0) pairs.predicted[i] = pairs.labelled[i] = 0;
  }
  require_below(metric, "prediction", pairs.predicted, pairs.classes);
  require_below(metric, "label", pairs.labelled, pairs.classes);
  return pairs;
}

}  // namespace thalweg::train
