#pragma once

#include <initializer_list>

#include <thalweg/tensor/shape.h>

namespace thalweg {

/// One number for every spatial axis, or one for each: `.kernel = 3` or `.kernel = {3, 5}`.
struct PerAxis {
  Dims values;

  PerAxis(int value) : values{value} {}
  PerAxis(int64_t value) : values{value} {}
  PerAxis(std::initializer_list<int64_t> each) : values(each) {}
  PerAxis(const Dims& each) : values(each) {}

  /// One number for each of `axes` axes. Throws Error{invalid}, naming `operation` and the
  /// `setting`, when there are neither one nor `axes` numbers.
  THALWEG_API Dims expand(const char* operation, const char* setting, size_t axes) const;
};

}  // namespace thalweg
