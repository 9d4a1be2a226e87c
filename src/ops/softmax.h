#pragma once

// The attributes of softmax and its losses, which fast kernels read too.

#include <thalweg/ops/op.h>
#include <thalweg/ops/softmax.h>

namespace thalweg {

struct SoftmaxAttrs {
  int64_t axis = -1;
  static auto fields() {
    return std::tuple{attr("axis", &SoftmaxAttrs::axis, "the axis that sums to 1")};
  }
};

struct SoftmaxCrossEntropyAttrs {
  int64_t axis = -1;
  double label_smoothing = 0;
  int64_t ignore_label = kNoIgnoredLabel;
  static auto fields() {
    using A = SoftmaxCrossEntropyAttrs;
    return std::tuple{
        attr("axis", &A::axis, "the axis of the classes"),
        attr("label_smoothing", &A::label_smoothing, "part of a label that all classes share"),
        attr("ignore_label", &A::ignore_label, "samples of this label have loss 0")};
  }
};

/// For kernels of softmax_cross_entropy on the cpu, before they run. Throws Error{invalid} for a
/// label that is no class and not ignored: an error that only a kernel can find.
void check_classes(const KernelContext& ctx);

}  // namespace thalweg
