#pragma once

// The innermost loops of recurrent layers: what a cell does with the gates of some sequences at one
// time. Arrays that hold several gates have all units of one, then those of the next. A sequence's
// elements are followed by the next one's after the `_row` strides.

#include <cstdint>

#include <thalweg/ops/recurrent.h>

namespace thalweg::sequence {

template <typename T>
struct CellForward {
  int64_t rows, units;
  const T *x, *product, *bias;  // the input's and the state's part of the gates; bias may be null
  const T* h;                   // the state before
  T* c;                         // the cell state, replaced by the next; of lstm only
  T *activations, *cells;
  T *next_h, *y;
  int64_t x_row, product_row, state_row, activation_row, cell_row, y_row;  // state: of h, c, next_h

  void next_row() {
    x += x_row;
    product += product_row;
    h += state_row;
    c += state_row;
    next_h += state_row;
    activations += activation_row;
    cells += cell_row;
    y += y_row;
  }
};

/// Of one sequence.
template <typename T>
struct CellBackward {
  int64_t units;
  const T *grad_y, *activations, *y, *h_before, *cells, *c_before;  // grad_y may be null
  T *dh, *dc;  // of the states after, replaced by those before, but for what goes through products
  T *dx, *dproduct;
};

template <typename T>
struct CellFns {
  void (*forward)(const CellForward<T>&) = nullptr;
  void (*backward)(const CellBackward<T>&) = nullptr;
};

template <typename T>
struct CellTable {
  CellFns<T> by_cell[4];
  const CellFns<T>& operator[](RecurrentCell cell) const { return by_cell[static_cast<int>(cell)]; }
};

/// The loops of the best target that the processor has.
void fill_cells(CellTable<float>& f32, CellTable<double>& f64);

}  // namespace thalweg::sequence
