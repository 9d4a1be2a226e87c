#include "kernels/gemm/product.h"

#include <algorithm>

#include <thalweg/base/threads.h>
#include <thalweg/device/memory.h>

#include "kernels/gemm/micro_kernel.h"
#include "kernels/gemm/pack.h"

namespace thalweg::gemm {
namespace {

// Tiles are of these sizes, but for the last of each row, which takes the rest along: up to twice.
constexpr int64_t kRows = 64;
constexpr int64_t kColumns = 256;
constexpr int64_t kDepth = 384;
// A packed B consists of panels this wide, each contiguous.
constexpr int64_t kPanel = 64;
// Up to this many elements B stays in the second-level cache and is read where it lies.
constexpr int64_t kCachedElements = 64 * 1024;
// On the stack of a product that needs B in another order.
constexpr int64_t kStackElements = 4096;

constexpr double kFlopsPerNs = 60;

// A range cut into pieces of `size`.
struct Cut {
  int64_t total, size;
  int64_t count() const { return std::max<int64_t>(total / size, 1); }
  int64_t begin(int64_t i) const { return i * size; }
  int64_t length(int64_t i) const { return i + 1 == count() ? total - i * size : size; }
};

template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t elements)
      : storage_(Storage::allocate(Device::cpu(), static_cast<size_t>(elements) * sizeof(T))) {}
  T* data() const { return static_cast<T*>(storage_->data()); }

 private:
  IntrusivePtr<Storage> storage_;
};

template <typename T>
const T* at(const Matrix<T>& matrix, int64_t i, int64_t j) {
  return matrix.data + i * matrix.row + j * matrix.column;
}

template <typename T>
Matrix<T> part(const Matrix<T>& matrix, int64_t i, int64_t j) {
  return {at(matrix, i, j), matrix.row, matrix.column};
}

// Strides of dimensions of size 1 say nothing: make them those of a row-major or column-major
// matrix.
template <typename T>
void normalize(Matrix<T>& matrix, int64_t rows, int64_t columns) {
  if (columns == 1) matrix.column = 1;
  if (rows == 1) {
    if (matrix.column == 1)
      matrix.row = columns;
    else
      matrix.row = 1;
  }
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

template <typename T>
void set_rows(T* c, int64_t c_row, int64_t rows, int64_t columns, const T* bias, int64_t stride) {
  for (int64_t i = 0; i < rows; ++i, c += c_row) {
    if (!bias) {
      std::fill_n(c, columns, T(0));
    } else if (stride == 1) {
      std::copy_n(bias, columns, c);
    } else {
      for (int64_t j = 0; j < columns; ++j) c[j] = bias[j * stride];
    }
  }
}

// One product, cut into the tiles of C.
template <typename T>
class Blocked {
 public:
  explicit Blocked(const Product<T>& p) : p_(p), rows_{p.m, kRows}, depth_{p.k, kDepth} {
    normalize(p_.a, p.m, p.k);
    normalize(p_.b, p.k, p.n);
    a_in_place_ = has_rows(p_.a, p.k) || has_columns(p_.a, p.m);
  }

  void run() {
    if (is_tiny()) return run_tiny();
    if (has_rows(p_.b, p_.n) && (p_.k * p_.n <= kCachedElements || p_.m < 16)) return run_direct();
    run_packed();
  }

 private:
  bool is_tiny() const {
    return a_in_place_ && p_.m < 2 * kRows && p_.n < 2 * kPanel && p_.k * p_.n <= kStackElements;
  }

  void run_tiny() {
    start_rows(0, p_.m, 0, p_.n);
    if (has_rows(p_.b, p_.n)) {
      multiply_tile(p_.a, p_.m, p_.k, p_.b.data, p_.b.row, p_.n, p_.c, p_.bias);
    } else {
      alignas(64) T packed[kStackElements];
      pack(p_.b, p_.k, p_.n, packed, p_.n);
      multiply_tile(p_.a, p_.m, p_.k, packed, p_.n, p_.n, p_.c, p_.bias);
    }
  }

  void run_direct() {
    const Cut columns{p_.n, kColumns};
    tiles(rows_.count() * columns.count(), kRows * kColumns * p_.k, [&](int64_t tile) {
      const int64_t row_tile = tile / columns.count(), column_tile = tile % columns.count();
      const int64_t i = rows_.begin(row_tile), m = rows_.length(row_tile);
      const int64_t j = columns.begin(column_tile), n = columns.length(column_tile);
      start_rows(i, m, j, n);
      for (int64_t d = 0; d < depth_.count(); ++d) {
        const int64_t k = depth_.begin(d);
        multiply_rows(i, m, d, at(p_.b, k, j), p_.b.row, n, j);
      }
    });
  }

  void run_packed() {
    const Cut columns{p_.n, kColumns};
    const int64_t panels = (p_.n + kPanel - 1) / kPanel;
    // A whole vector may be written behind the last column.
    const int64_t ld = p_.n < kPanel ? (p_.n + 15) / 16 * 16 : kPanel;
    const int64_t most_k = depth_.length(depth_.count() - 1);
    const Scratch<T> scratch(panels * most_k * ld);
    for (int64_t d = 0; d < depth_.count(); ++d) {
      const int64_t k = depth_.begin(d), length = depth_.length(d);
      tiles(panels, length * ld * 16, [&](int64_t panel) {
        const int64_t j = panel * kPanel;
        pack(part(p_.b, k, j), length, std::min(kPanel, p_.n - j),
             scratch.data() + panel * length * ld, ld);
      });
      tiles(rows_.count() * columns.count(), kRows * kColumns * length, [&](int64_t tile) {
        const int64_t row_tile = tile / columns.count(), column_tile = tile % columns.count();
        const int64_t begin = columns.begin(column_tile);
        packed_tile(row_tile, d, begin, begin + columns.length(column_tile), scratch.data(), ld);
      });
    }
  }

  void packed_tile(int64_t row_tile, int64_t d, int64_t begin, int64_t end, const T* packed,
                   int64_t ld) {
    const int64_t i = rows_.begin(row_tile), m = rows_.length(row_tile);
    const int64_t length = depth_.length(d);
    if (d == 0) start_rows(i, m, begin, end - begin);
    with_rows_of_a(i, m, d, [&](const Matrix<T>& a) {
      for (int64_t j = begin; j < end; j += kPanel) {
        multiply_tile(a, m, length, packed + j / kPanel * length * ld, ld,
                      std::min(kPanel, end - j), p_.c + i * p_.c_row + j, d > 0 || p_.bias);
      }
    });
  }

  void multiply_rows(int64_t i, int64_t m, int64_t d, const T* b, int64_t ldb, int64_t n,
                     int64_t j) {
    with_rows_of_a(i, m, d, [&](const Matrix<T>& a) {
      multiply_tile(a, m, depth_.length(d), b, ldb, n, p_.c + i * p_.c_row + j, d > 0 || p_.bias);
    });
  }

  // Gives f the part of A for m rows and piece d of the depth, in a form that kernels read.
  template <typename F>
  void with_rows_of_a(int64_t i, int64_t m, int64_t d, F&& f) {
    const Matrix<T> a = part(p_.a, i, depth_.begin(d));
    if (a_in_place_) return f(a);
    const int64_t length = depth_.length(d);
    const Scratch<T> copy(m * length);
    pack(a, m, length, copy.data(), length);
    f(Matrix<T>{copy.data(), length, 1});
  }

  void multiply_tile(const Matrix<T>& a, int64_t m, int64_t k, const T* b, int64_t ldb, int64_t n,
                     T* c, bool adds) {
    const bool transposed = a.column != 1;
    const MicroShape shape{.m = static_cast<int32_t>(m),
                           .n = static_cast<int32_t>(n),
                           .k = static_cast<int32_t>(k),
                           .lda = static_cast<int32_t>(transposed ? a.column : a.row),
                           .ldb = static_cast<int32_t>(ldb),
                           .ldc = static_cast<int32_t>(p_.c_row),
                           .a_transposed = transposed,
                           .adds = adds};
    const MicroKernel<T> kernel(shape);
    kernel(a.data, b, c);
  }

  // A bias is what the sum of a tile begins with.
  void start_rows(int64_t i, int64_t m, int64_t j, int64_t n) {
    if (!p_.bias) return;
    set_rows(p_.c + i * p_.c_row + j, p_.c_row, m, n, p_.bias + j * p_.bias_stride, p_.bias_stride);
  }

  // `work` is a tile's multiplications.
  template <typename F>
  void tiles(int64_t count, int64_t work, F&& f) {
    parallel_tiles(count, static_cast<double>(2 * work) / kFlopsPerNs, f);
  }

  Product<T> p_;
  Cut rows_, depth_;
  bool a_in_place_ = false;
};

template <typename T>
void multiply_any(const Product<T>& p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) return set_rows(p.c, p.c_row, p.m, p.n, p.bias, p.bias_stride);
  Blocked<T>(p).run();
}

}  // namespace

void multiply(const Product<float>& product) { multiply_any(product); }
void multiply(const Product<double>& product) { multiply_any(product); }

}  // namespace thalweg::gemm
