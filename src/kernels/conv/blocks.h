#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/conv.h"

namespace thalweg::conv {

/// A rectangle of pixels of a convolution's result: some whole rows, or a part of one.
struct Block {
  int64_t plane, row, column;
  int64_t rows, columns;

  int64_t pixels() const { return rows * columns; }
};

/// The pixels of one image of the result, cut into blocks of about `pixels`.
class Blocks {
 public:
  Blocks(const ConvProblem& p, int64_t pixels)
      : p_(p),
        rows_(std::clamp<int64_t>(pixels / std::max<int64_t>(p.out[2], 1), 1,
                                  std::max<int64_t>(p.out[1], 1))),
        columns_(rows_ > 1 ? p.out[2]
                           : std::clamp<int64_t>(pixels, 1, std::max<int64_t>(p.out[2], 1))),
        row_pieces_((p.out[1] + rows_ - 1) / rows_),
        column_pieces_((p.out[2] + columns_ - 1) / columns_) {}

  int64_t count() const { return p_.out[0] * row_pieces_ * column_pieces_; }
  int64_t most_rows() const { return rows_; }
  int64_t most_columns() const { return columns_; }
  Block operator[](int64_t i) const {
    const int64_t row = i / column_pieces_ % row_pieces_ * rows_;
    const int64_t column = i % column_pieces_ * columns_;
    return {i / column_pieces_ / row_pieces_, row, column, std::min(rows_, p_.out[1] - row),
            std::min(columns_, p_.out[2] - column)};
  }

 private:
  const ConvProblem& p_;
  int64_t rows_, columns_, row_pieces_, column_pieces_;
};

}  // namespace thalweg::conv
