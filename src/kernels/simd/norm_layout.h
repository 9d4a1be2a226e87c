#pragma once

// What the kernels of the normalisations share.

#include <thalweg/ops/op.h>

#include "device/scratch.h"
#include "kernels/simd/norm_rows.h"
#include "tensor/same.h"

namespace thalweg::simd {

inline constexpr int64_t kNormTileElements = 32768;
inline constexpr double kNormElementNs = 0.5;

inline bool same_places(const TensorMeta& a, const TensorMeta& b) {
  return a.dtype == b.dtype && same_layout(a, b);
}

inline const char* byte_at(const TensorImpl& t, int64_t element) {
  return t.as<const char>() + element * static_cast<int64_t>(item_size(t.meta.dtype));
}
inline char* byte_at(TensorImpl& t, int64_t element) {
  return t.as<char>() + element * static_cast<int64_t>(item_size(t.meta.dtype));
}

/// Numbers in the type of the arithmetic for x's dtype: f64 for f64, else f32.
class NormArray {
 public:
  NormArray(DType x, int64_t count)
      : wide_(x == DType::f64), count_(count), bytes_(count * (wide_ ? 8 : 4)) {}
  const void* data(int64_t i = 0) const { return bytes_.data() + i * (wide_ ? 8 : 4); }
  void set(int64_t i, double value) {
    if (wide_)
      reinterpret_cast<double*>(bytes_.data())[i] = value;
    else
      reinterpret_cast<float*>(bytes_.data())[i] = static_cast<float>(value);
  }
  int64_t size() const { return count_; }

 private:
  bool wide_;
  int64_t count_;
  Scratch<char> bytes_;
};

/// Calls f(i, value) for the elements of a row-major floating tensor.
template <typename F>
void for_each_value(const TensorImpl& t, F&& f) {
  visit_dtype(t.meta.dtype, [&]<typename T>(T) {
    if constexpr (std::is_convertible_v<T, float> && !std::is_integral_v<T>) {
      const T* values = t.as<const T>();
      for (int64_t i = 0; i < t.meta.size(); ++i) {
        if constexpr (sizeof(T) == 2)
          f(i, static_cast<double>(static_cast<float>(values[i])));
        else
          f(i, static_cast<double>(values[i]));
      }
    }
  });
}

/// Writes f(i) to the elements of a row-major floating tensor.
template <typename F>
void set_each_value(TensorImpl& t, F&& f) {
  visit_dtype(t.meta.dtype, [&]<typename T>(T) {
    if constexpr (std::is_convertible_v<T, float> && !std::is_integral_v<T>) {
      T* values = t.as<T>();
      for (int64_t i = 0; i < t.meta.size(); ++i) values[i] = static_cast<T>(f(i));
    }
  });
}

}  // namespace thalweg::simd
