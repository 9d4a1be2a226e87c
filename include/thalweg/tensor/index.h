#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include <thalweg/tensor/shape.h>

namespace thalweg {

/// A range of one dimension, as NumPy's start:stop:step; negative positions count from the end.
struct Slice {
  static constexpr int64_t kOpen = std::numeric_limits<int64_t>::min();
  int64_t start = kOpen;
  int64_t stop = kOpen;
  int64_t step = 1;
};

struct Ellipsis {};  // all dimensions that no other index names
struct NewAxis {};   // a new dimension of size 1

/// One entry of a NumPy-like index: `x[{0, Slice{1, 3}, Ellipsis{}, NewAxis{}}]`.
class Index {
 public:
  enum class Kind : uint8_t { position, slice, ellipsis, new_axis };
  Index(int position) : kind(Kind::position) { slice.start = position; }
  Index(int64_t position) : kind(Kind::position) { slice.start = position; }
  Index(Slice range) : kind(Kind::slice), slice(range) {}
  Index(Ellipsis) : kind(Kind::ellipsis) {}
  Index(NewAxis) : kind(Kind::new_axis) {}
  Index() : kind(Kind::slice) {}

  Kind kind;
  Slice slice;
};

using IndexList = std::initializer_list<Index>;

}  // namespace thalweg
