#include "kernels/gemm/product.h"

#include <algorithm>
#include <utility>

#include <thalweg/base/threads.h>

#include "device/scratch.h"
#include "kernels/gemm/bias.h"
#include "kernels/gemm/dot.h"
#include "kernels/gemm/micro_kernel.h"
#include "kernels/gemm/pack.h"

namespace thalweg::gemm {
namespace {

// Tiles of C where B is read in place. Here and below, the last piece of a range takes the rest
// along and is up to twice as long.
constexpr int64_t kRows = 64;
constexpr int64_t kColumns = 256;
constexpr int64_t kDepth = 384;
constexpr int64_t kTerms = 64;  // of sums that run along columns of A, as weight gradients' do
// Up to this many elements B stays in the second-level cache and is read where it lies.
constexpr int64_t kCachedElements = 64 * 1024;
// Rows of B that are no longer than this are read where they lie, too, however many they are.
constexpr int64_t kReadInPlace = 512;
// So much of B is copied as a whole for more rows than kPackedRows.
constexpr int64_t kCopiedElements = 256 * 1024;
constexpr int64_t kDeepPanel = 512;
// Otherwise pieces of B are packed on the stack, and meet as many rows as make that cheap. For few
// rows a piece stays in the first-level cache, where it is packed twice as fast; for many it is
// deeper, since C is read and written once per piece.
constexpr int64_t kPanel = 64;
constexpr int64_t kPackedRows = 256;
constexpr int64_t kShallow = 64;
constexpr int64_t kDeep = 192;
constexpr int64_t kPackedElements = 2 * kDeep * kPanel;
// So few rows or columns are products of a matrix and single vectors.
constexpr int64_t kVectors = 3;

constexpr double kFlopsPerNs = 60;

// A range cut into pieces of `size`. Small products are one piece: they are not to pay for
// divisions, which take as long as they do.
struct Cut {
  int64_t total, size;
  int64_t count() const { return total < 2 * size ? 1 : total / size; }
  int64_t begin(int64_t i) const { return i * size; }
  int64_t length(int64_t i) const { return i + 1 == count() ? total - i * size : size; }
};

template <typename T>
const T* at(const Matrix<T>& matrix, int64_t i, int64_t j) {
  return matrix.data + i * matrix.row + j * matrix.column;
}

template <typename T>
Matrix<T> part(const Matrix<T>& matrix, int64_t i, int64_t j) {
  return {at(matrix, i, j), matrix.row, matrix.column};
}

// The stride of a dimension of size 1 says nothing: make it that of a row-major or column-major
// matrix.
template <typename T>
void normalize(Matrix<T>& matrix, int64_t rows, int64_t columns) {
  if (columns == 1) matrix.column = 1;
  if (rows == 1) matrix.row = matrix.column == 1 ? columns : 1;
}

constexpr int64_t kMaxStride = INT32_MAX;

template <typename T>
bool has_rows(const Matrix<T>& matrix, int64_t columns) {
  return matrix.column == 1 && matrix.row >= columns && matrix.row <= kMaxStride;
}

template <typename T>
bool has_columns(const Matrix<T>& matrix, int64_t rows) {
  return matrix.row == 1 && matrix.column >= rows && matrix.column <= kMaxStride;
}

// The row and the column of a tile in a grid that is so many columns wide.
std::pair<int64_t, int64_t> place_of(int64_t tile, int64_t columns) {
  if (columns == 1) return {tile, 0};
  return {tile / columns, tile % columns};
}

// `work` is a tile's multiplications.
template <typename F>
void tiles(int64_t count, int64_t work, F&& f) {
  parallel_tiles(count, static_cast<double>(2 * work) / kFlopsPerNs, f);
}

template <typename T>
void set_rows(const Product<T>& p, int64_t i, int64_t rows, int64_t j, int64_t columns) {
  const T* bias = p.bias ? p.bias + j * p.bias_stride : nullptr;
  T* c = p.c + i * p.c_row + j;
  for (int64_t row = 0; row < rows; ++row, c += p.c_row) {
    if (!bias) {
      std::fill_n(c, columns, T(0));
    } else if (p.bias_stride == 1) {
      std::copy_n(bias, columns, c);
    } else {
      for (int64_t k = 0; k < columns; ++k) c[k] = bias[k * p.bias_stride];
    }
  }
}

// True if C holds what the sums begin with.
template <typename T>
bool continues(const Product<T>& p) {
  return p.bias || p.adds;
}

template <typename T>
void begin_rows(const Product<T>& p, int64_t i, int64_t rows, int64_t j, int64_t columns) {
  if (p.bias) set_rows(p, i, rows, j, columns);
}

template <typename T>
struct Tile {
  int64_t m, n, k;
  Matrix<T> a;
  const T* b;
  int64_t ldb;
  T* c;
  int64_t ldc;
  bool adds;

  void run() const {
    const bool transposed = a.column != 1;
    const MicroKernel<T> kernel({.m = static_cast<int32_t>(m),
                                 .n = static_cast<int32_t>(n),
                                 .k = static_cast<int32_t>(k),
                                 .lda = static_cast<int32_t>(transposed ? a.column : a.row),
                                 .ldb = static_cast<int32_t>(ldb),
                                 .ldc = static_cast<int32_t>(ldc),
                                 .a_transposed = transposed,
                                 .adds = adds});
    kernel(a.data, b, c);
  }
};

// Adds the terms [k, k + length) of the sums to a tile of C.
template <typename T>
void add_terms(const Product<T>& p, int64_t i, int64_t m, int64_t j, int64_t n, int64_t k,
               int64_t length, const T* b, int64_t ldb, bool adds) {
  T* c = p.c + i * p.c_row + j;
  Tile<T>{m, n, length, part(p.a, i, k), b, ldb, c, p.c_row, k > 0 || adds}.run();
}

// B is read where it lies. Where the sums are long, some terms of all sums of a tile come before
// the next terms of any, so that the rows they need come from memory once.
template <typename T>
void multiply_in_place(const Product<T>& p) {
  const bool long_sums = p.a.column != 1 && p.k >= 2 * kTerms;
  const Cut rows{p.m, p.m < 4 * kRows ? kRows : 2 * kRows}, columns{p.n, kColumns};
  const Cut depth{p.k, long_sums ? kTerms : kDepth};
  tiles(rows.count() * columns.count(), rows.size * kColumns * p.k, [&](int64_t tile) {
    const auto [row_tile, column_tile] = place_of(tile, columns.count());
    const int64_t i = rows.begin(row_tile), m = rows.length(row_tile);
    const int64_t first = columns.begin(column_tile), total = columns.length(column_tile);
    begin_rows(p, i, m, first, total);
    const Cut strips{total, long_sums ? kPanel : kColumns};
    for (int64_t d = 0; d < depth.count(); ++d) {
      const int64_t k = depth.begin(d), length = depth.length(d);
      for (int64_t s = 0; s < strips.count(); ++s) {
        const int64_t j = first + strips.begin(s), n = strips.length(s);
        add_terms(p, i, m, j, n, k, length, at(p.b, k, j), p.b.row, continues(p));
      }
    }
  });
}

template <typename T>
void copy_panels(const Product<T>& p, const Cut& panels, T* copy) {
  tiles(panels.count(), kPanel * p.k, [&](int64_t s) {
    const int64_t j = panels.begin(s), n = panels.length(s);
    pack(part(p.b, 0, j), p.k, n, copy + j * p.k, n);
  });
}

// All of B is copied once into panels of columns that stay in the second-level cache; the bias
// comes last, while the tile is in the first.
template <typename T>
void multiply_by_panels(const Product<T>& p) {
  const Cut rows{p.m, kRows}, panels{p.n, kPanel}, depth{p.k, kDeepPanel};
  const Scratch<T> copy(p.k * p.n);
  copy_panels(p, panels, copy.data());
  tiles(rows.count(), kRows * p.n * p.k, [&](int64_t tile) {
    const int64_t i = rows.begin(tile), m = rows.length(tile);
    for (int64_t s = 0; s < panels.count(); ++s) {
      const int64_t j = panels.begin(s), n = panels.length(s);
      for (int64_t d = 0; d < depth.count(); ++d) {
        const int64_t k = depth.begin(d);
        const T* panel = copy.data() + j * p.k + k * n;
        add_terms(p, i, m, j, n, k, depth.length(d), panel, n, p.adds);
      }
      if (p.bias)
        add_bias(p.bias + j * p.bias_stride, p.bias_stride, m, n, p.c + i * p.c_row + j, p.c_row);
    }
    if (p.ready) (*p.ready)(i * p.c_row, (i + m) * p.c_row);
  });
}

template <typename T>
void multiply_packed(const Product<T>& p) {
  const Cut groups{p.m, kPackedRows}, depth{p.k, p.m < 2 * kRows ? kShallow : kDeep};
  const int64_t panels = (p.n + kPanel - 1) / kPanel;
  tiles(groups.count() * panels, kPackedRows * kPanel * p.k, [&](int64_t tile) {
    const auto [group, panel] = place_of(tile, panels);
    const int64_t first = groups.begin(group);
    const int64_t j = panel * kPanel, n = std::min(kPanel, p.n - j);
    const Cut rows{groups.length(group), kRows};
    begin_rows(p, first, rows.total, j, n);
    alignas(64) T packed[kPackedElements];
    for (int64_t d = 0; d < depth.count(); ++d) {
      const int64_t k = depth.begin(d), length = depth.length(d);
      pack(part(p.b, k, j), length, n, packed, n);
      for (int64_t r = 0; r < rows.count(); ++r) {
        const int64_t i = first + rows.begin(r);
        Tile<T>{rows.length(r),        n,       length,
                part(p.a, i, k),       packed,  n,
                p.c + i * p.c_row + j, p.c_row, d > 0 || continues(p)}
            .run();
      }
    }
  });
}

// C = A B where the sums run along rows of A and columns of B that are contiguous, and A has few
// rows.
template <typename T>
void multiply_few_rows(const Product<T>& p) {
  const Cut columns{p.n, kColumns};
  tiles(columns.count(), p.m * kColumns * p.k * 4, [&](int64_t tile) {
    const int64_t j = columns.begin(tile), n = columns.length(tile);
    begin_rows(p, 0, p.m, j, n);
    for (int64_t i = 0; i < p.m; ++i) {
      dot_rows(at(p.b, 0, j), p.b.column, n, at(p.a, i, 0), p.k, p.c + i * p.c_row + j, 1,
               continues(p));
    }
  });
}

template <typename T>
void multiply_few_columns(const Product<T>& p) {
  const Cut rows{p.m, kColumns};
  tiles(rows.count(), p.n * kColumns * p.k * 4, [&](int64_t tile) {
    const int64_t i = rows.begin(tile), m = rows.length(tile);
    begin_rows(p, i, m, 0, p.n);
    for (int64_t j = 0; j < p.n; ++j) {
      dot_rows(at(p.a, i, 0), p.a.row, m, at(p.b, 0, j), p.k, p.c + i * p.c_row + j, p.c_row,
               continues(p));
    }
  });
}

template <typename T>
void multiply_with_copy_of_a(Product<T> p) {
  const Scratch<T> copy(p.m * p.k);
  pack(p.a, p.m, p.k, copy.data(), p.k);
  p.a = {copy.data(), p.k, 1};
  multiply(p);
}

// A column is the row of the transpose.
template <typename T>
Product<T> transposed(const Product<T>& p) {
  Product<T> t = p;
  std::swap(t.m, t.n);
  t.a = {p.b.data, p.b.column, p.b.row};
  t.b = {p.a.data, p.a.column, p.a.row};
  t.c_row = p.m;
  t.bias_stride = 0;
  return t;
}

template <typename T>
bool goes_by_panels(Product<T> p) {
  if (p.k == 0 || p.n <= kVectors) return false;
  normalize(p.a, p.m, p.k);
  return has_rows(p.a, p.k) && p.m > kPackedRows && p.k * p.n <= kCopiedElements;
}

template <typename T>
void multiply_any(Product<T> p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) {
    if (!p.adds) set_rows(p, 0, p.m, 0, p.n);
    return;
  }
  if (p.n == 1 && p.c_row == 1 && p.m > 1) return multiply_any(transposed(p));
  normalize(p.a, p.m, p.k);
  normalize(p.b, p.k, p.n);
  const bool a_rows = has_rows(p.a, p.k), b_rows = has_rows(p.b, p.n);
  if (!a_rows && !has_columns(p.a, p.m)) return multiply_with_copy_of_a(p);
  if (a_rows && has_columns(p.b, p.k)) {
    if (p.m <= kVectors) return multiply_few_rows(p);
    if (p.n <= kVectors) return multiply_few_columns(p);
  }
  if (goes_by_panels(p)) return multiply_by_panels(p);
  const bool few = p.k * p.n <= kCachedElements || p.m < 16 || p.n <= kReadInPlace;
  if (b_rows && (few || !a_rows)) return multiply_in_place(p);
  multiply_packed(p);
}

// Tells of all of C at once, by parts that threads may take.
template <typename T>
void multiply_and_tell(const Product<T>& product) {
  if (!product.ready || goes_by_panels(product)) return multiply_any(product);
  multiply_any(product);
  constexpr int64_t kPart = 16 * 1024;
  parallel_ranges(product.m * product.n, kPart, 0.5, *product.ready);
}

}  // namespace

void multiply(const Product<float>& product) { multiply_and_tell(product); }
void multiply(const Product<double>& product) { multiply_and_tell(product); }

}  // namespace thalweg::gemm
