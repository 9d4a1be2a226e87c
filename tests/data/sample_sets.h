#pragma once

#include <numeric>
#include <vector>

#include <thalweg/data/dataset.h>

namespace thalweg::data {

/// n samples whose label is their number and whose data are [number, -number].
inline ArrayDataset numbered(int64_t n) {
  std::vector<float> data;
  std::vector<int64_t> label;
  for (int64_t i = 0; i < n; ++i) {
    data.insert(data.end(), {static_cast<float>(i), static_cast<float>(-i)});
    label.push_back(i);
  }
  return ArrayDataset(Tensor::of(data, {n, 2}), Tensor::of(label));
}

inline std::vector<int64_t> labels_of(const Batch& batch) {
  return batch.label.to_vector<int64_t>();
}

inline std::vector<int64_t> labels_of(const Dataset& set) {
  std::vector<int64_t> all(static_cast<size_t>(set.size()));
  std::iota(all.begin(), all.end(), 0);
  return labels_of(set.gather(all));
}

}  // namespace thalweg::data
