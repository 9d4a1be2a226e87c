// NumPy's basic indexing, made of slices and one reshape.

#include <thalweg/ops/views.h>

#include "base/fail.h"

namespace thalweg {
namespace {

int64_t checked_position(int64_t position, int64_t axis, const Shape& shape) {
  const int64_t size = shape[axis];
  if (position >= -size && position < size) return position < 0 ? position + size : position;
  fail_invalid("index: position {} is out of range for axis {} of size {}; shape {}", position,
               axis, size, to_string(shape));
}

// How many axes the entries name, and whether they have an ellipsis.
int64_t named_axes(IndexList index, const Shape& shape) {
  int64_t named = 0, ellipses = 0;
  for (const Index& entry : index) {
    named += entry.kind == Index::Kind::position || entry.kind == Index::Kind::slice;
    ellipses += entry.kind == Index::Kind::ellipsis;
  }
  if (named > static_cast<int64_t>(shape.size())) {
    fail_invalid("index: {} entries for shape {}, which has {} dimensions", named, to_string(shape),
                 shape.size());
  }
  if (ellipses > 1) fail_invalid("index: more than one ellipsis");
  return named;
}

}  // namespace

Tensor Tensor::operator[](IndexList index) const {
  const Shape& from = shape();
  const int64_t unnamed = dims() - named_axes(index, from);
  Tensor cut = *this;
  Shape result;
  int64_t axis = 0;
  const auto keep = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) result.push_back(cut.shape()[axis++]);
  };
  for (const Index& entry : index) {
    switch (entry.kind) {
      case Index::Kind::position: {
        const int64_t position = checked_position(entry.slice.start, axis, from);
        cut = slice(cut, axis++, position, position + 1);
        break;
      }
      case Index::Kind::slice:
        cut = slice(cut, axis, entry.slice.start, entry.slice.stop, entry.slice.step);
        keep(1);
        break;
      case Index::Kind::ellipsis:
        keep(unnamed);
        break;
      case Index::Kind::new_axis:
        result.push_back(1);
        break;
    }
  }
  keep(dims() - axis);
  return thalweg::reshape(cut, result);
}

Tensor Tensor::operator[](int64_t position) const { return (*this)[{Index(position)}]; }

}  // namespace thalweg
