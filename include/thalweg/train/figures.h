#pragma once

#include <string>
#include <vector>

namespace thalweg::train {

/// A number with its name: {"loss", 0.31}.
struct Figure {
  std::string name = {};
  double value = 0;
};

/// In the order in which they are shown.
using Figures = std::vector<Figure>;

}  // namespace thalweg::train
