#pragma once

// Classes that a net predicted for a batch, beside those that the labels name.

#include <cstdint>
#include <vector>

#include <thalweg/train/metrics.h>

namespace thalweg::train {

/// A label that does not count.
inline constexpr int64_t kNoLabel = -1;

struct ClassPairs {
  std::vector<int64_t> predicted, labelled;
  std::vector<double> weights;  // of each pair
  int64_t classes = 0;          // numbers are below it; 0: not known
};

/// The pairs of a batch, valid until the next call in this thread. `classes`, if not 0, is how many
/// there must be. The rules are those of metric::accuracy. Throws Error{invalid} naming `metric`.
const ClassPairs& class_pairs(const std::string& metric, const Observation& batch, int64_t axis,
                              double threshold, int64_t classes = 0);

/// The batch's weight for each of `count` values, which are as many for each sample; empty if all
/// are 1. Throws Error{invalid} naming `metric`.
void value_weights(const std::string& metric, const Tensor& weight, int64_t samples, int64_t count,
                   std::vector<double>& into);

/// Scores along an axis: element (o, c, i) is at (o * classes + c) * inner + i.
struct ScoreLayout {
  int64_t outer, classes, inner;
};
ScoreLayout score_layout(const std::string& metric, const Tensor& scores, int64_t axis);

/// Throws Error{invalid} unless the batch has what the metric needs, with N >= 0 samples in all.
void require(const std::string& metric, const char* what, const Tensor& tensor);

/// Integer or bool elements as i64.
void read_integers(const Tensor& from, std::vector<int64_t>& into);

}  // namespace thalweg::train
