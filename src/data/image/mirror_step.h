#pragma once

#include <thalweg/base/philox.h>

namespace thalweg::data {

/// What a TransformStep is besides if it only mirrors some samples.
class MirrorStep {
 public:
  virtual ~MirrorStep() = default;
  /// Left and right, not another axis.
  virtual bool mirrors_columns() const = 0;
  virtual bool draw(Philox& random) const = 0;
};

}  // namespace thalweg::data
