#pragma once

#include <thalweg/ops/attrs.h>

namespace thalweg {

struct ClipAttrs {
  double low = 0;
  double high = 1;
  static auto fields() {
    return std::tuple{attr("low", &ClipAttrs::low, "the smallest value"),
                      attr("high", &ClipAttrs::high, "the largest value")};
  }
};

}  // namespace thalweg
