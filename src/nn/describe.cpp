#include "nn/describe.h"

#include <algorithm>

#include "base/fail.h"

namespace thalweg::nn {

std::string tuple_text(const Dims& values) { return fmt::format("({})", fmt::join(values, ", ")); }

std::string unusual_text(const char* name, const Dims& values, int64_t usual) {
  const bool plain =
      std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == usual; });
  return plain ? "" : fmt::format(", {}={}", name, tuple_text(values));
}

void require_spatial(const char* layer, const Tensor& x, size_t axes) {
  constexpr const char* kForms[] = {"[N, C, W]", "[N, C, H, W]", "[N, C, D, H, W]"};
  if (x.shape().size() != axes + 2) {
    fail_invalid("{}: input has {} dimensions; {}; expected {}", layer, x.dims(),
                 to_string(x.shape()), kForms[axes - 1]);
  }
}

}  // namespace thalweg::nn
