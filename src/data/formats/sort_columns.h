#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace thalweg::data {

/// Brings the values of a sparse sample into the order of their columns. The first column that is
/// there twice, if there is one; the order is then undefined.
template <typename T>
std::optional<int32_t> sort_columns(int32_t* columns, T* values, size_t count) {
  std::vector<std::pair<int32_t, T>> pairs(count);
  for (size_t i = 0; i < count; ++i) pairs[i] = {columns[i], values[i]};
  std::sort(pairs.begin(), pairs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && pairs[i].first == pairs[i - 1].first) return pairs[i].first;
    columns[i] = pairs[i].first;
    values[i] = pairs[i].second;
  }
  return std::nullopt;
}

}  // namespace thalweg::data
