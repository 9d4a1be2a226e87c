#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace thalweg::train {

/// A number with its name: {"loss", 0.31}.
struct Figure {
  std::string name = {};
  double value = 0;
};

/// In the order in which they are shown.
using Figures = std::vector<Figure>;

/// The value of the first figure of that name, or `otherwise`.
inline double value_of(const Figures& figures, std::string_view name, double otherwise) {
  for (const Figure& figure : figures)
    if (figure.name == name) return figure.value;
  return otherwise;
}

}  // namespace thalweg::train
