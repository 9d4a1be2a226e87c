#pragma once

// Joining, cutting and repeating, and tensors of regular values. Negative axes count from the end.

#include <span>
#include <vector>

#include <thalweg/tensor/tensor.h>

namespace thalweg {

// --- joining and cutting ---
/// Tensors one after the other along `axis`; on the other axes their sizes must be equal. Dtypes
/// are promoted to a common one.
THALWEG_API Tensor concat(std::span<const Tensor> tensors, int64_t axis = 0);
inline Tensor concat(std::initializer_list<Tensor> tensors, int64_t axis = 0) {
  return concat(std::span(tensors.begin(), tensors.size()), axis);
}
/// Tensors of one shape along a new axis.
THALWEG_API Tensor stack(std::span<const Tensor> tensors, int64_t axis = 0);
inline Tensor stack(std::initializer_list<Tensor> tensors, int64_t axis = 0) {
  return stack(std::span(tensors.begin(), tensors.size()), axis);
}
/// `x` cut into `sections` equal parts along `axis`, which must divide its size; views.
THALWEG_API std::vector<Tensor> split(const Tensor& x, int64_t sections, int64_t axis = 0);
/// `x` cut into parts of the given sizes, whose sum must be the axis' size; views.
THALWEG_API std::vector<Tensor> split_sizes(const Tensor& x, std::span<const int64_t> sizes,
                                            int64_t axis = 0);

// --- padding and repeating ---
/// What padding consists of: one value, the elements mirrored at the edge, which is not repeated,
/// or the edge's element.
enum class PadMode : uint8_t { constant, reflect, edge };

/// `x` with before[i] and after[i] elements added at the ends of axis i. reflect takes at most
/// size - 1 elements, edge a size of at least 1.
THALWEG_API Tensor pad(const Tensor& x, const Dims& before, const Dims& after,
                       PadMode mode = PadMode::constant, double value = 0);
/// The order of elements reversed along the axes, all of them when empty; a view.
THALWEG_API Tensor flip(const Tensor& x, const Dims& axes = {});
/// `x` as a whole repeated repeats[i] times along axis i; axes are added in front as needed.
THALWEG_API Tensor tile(const Tensor& x, const Dims& repeats);
/// Each element repeated `times` times along the axis.
THALWEG_API Tensor repeat(const Tensor& x, int64_t times, int64_t axis);
/// Elements moved by `shift` places along the axis; those that leave one end come in at the other.
THALWEG_API Tensor roll(const Tensor& x, int64_t shift, int64_t axis);
/// The lower or upper triangle of the last two axes, the other elements 0: those with
/// column - row <= diagonal, or >= it.
THALWEG_API Tensor tril(const Tensor& x, int64_t diagonal = 0);
THALWEG_API Tensor triu(const Tensor& x, int64_t diagonal = 0);

// --- regular values; Error{invalid} when the dtype cannot hold one ---
/// start, start + step, ... up to but not including `stop`.
THALWEG_API Tensor arange(double start, double stop, double step = 1,
                          TensorOptions options = {DType::i64});
/// 0, 1, ... count - 1.
THALWEG_API Tensor arange(int64_t count, TensorOptions options = {DType::i64});
/// `count` evenly spaced values, the first `start` and the last `stop`.
THALWEG_API Tensor linspace(double start, double stop, int64_t count, TensorOptions options = {});
/// [rows, columns] with 1 where column - row == diagonal, else 0; columns of -1 means rows.
THALWEG_API Tensor eye(int64_t rows, int64_t columns = -1, int64_t diagonal = 0,
                       TensorOptions options = {});

}  // namespace thalweg
