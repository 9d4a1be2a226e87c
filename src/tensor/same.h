#pragma once

// How far two metas agree.

#include <thalweg/tensor/meta.h>

namespace thalweg {

inline bool same_layout(const TensorMeta& a, const TensorMeta& b) {
  return a.shape == b.shape && a.strides == b.strides;
}

/// The same elements, if both are of one storage.
inline bool same_elements(const TensorMeta& a, const TensorMeta& b) {
  return a.offset == b.offset && a.dtype == b.dtype && same_layout(a, b);
}

inline bool same_meta(const TensorMeta& a, const TensorMeta& b) {
  return a.device == b.device && same_elements(a, b);
}

}  // namespace thalweg
