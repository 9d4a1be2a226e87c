// Back through time: the cell's functions for whole sequences, then the product of the gates'
// gradients with the weight, which gives the gradient of the state before. The weight's gradient is
// one product over all times in the end.

#include <algorithm>

#include <thalweg/base/threads.h>

#include "kernels/gemm/micro_kernel.h"
#include "kernels/gemm/pack.h"
#include "kernels/gemm/product.h"
#include "kernels/recurrent/arrays.h"
#include "kernels/recurrent/layer.h"
#include "ops/recurrent.h"

namespace thalweg::sequence {
namespace {

using In = RecurrentVjpIn;
using Out = RecurrentVjpOut;

// Columns of a product.
constexpr int64_t kPanel = 64;
// Rows of the sums over all times that are added up at once.
constexpr int64_t kDepth = 640;

template <typename T>
class Backward {
 public:
  Backward(const KernelContext& ctx, const CellFns<T>& cell)
      : ctx_(ctx),
        cell_(cell.backward),
        attrs_(ctx.attrs<RecurrentAttrs>()),
        size_(ctx.in(In::y).meta.shape, attrs_.cell),
        h0_(ctx, In::h0),
        c0_(ctx, In::c0),
        y_(ctx, In::y),
        activations_(ctx, In::activations),
        cells_(ctx, In::cells),
        grad_y_(ctx, In::grad_y),
        dx_(rows_of<T>(ctx.out(Out::gates))),
        lengths_(sequence_lengths(ctx, In::lengths, size_.batch, size_.steps)),
        before_(size_.batch * size_.steps * size_.units),
        apart_(attrs_.cell == RecurrentCell::gru ? size_.batch * size_.steps * size_.wide : 0),
        packed_(size_.wide * size_.units),
        zeros_(size_.units, T(0)),
        own_states_(2 * size_.batch * size_.units),
        dh_(h0_ ? ctx.out(Out::h0).as<T>() : own_states_.data()),
        dc_(c0_ ? ctx.out(Out::c0).as<T>() : own_states_.data() + size_.batch * size_.units) {
    dproduct_ = dx_;
    if (apart_.size()) dproduct_.data = apart_.data();
    pack_weight(ctx.in(In::weight));
    gather_states();
    set_last(In::grad_h, dh_);
    if (size_.has_cells) set_last(In::grad_c, dc_);
  }

  void run() {
    for (int64_t s = size_.steps; s-- > 0;) {
      const int64_t t = attrs_.reverse ? size_.steps - 1 - s : s;
      step_cells(t);
      if (s > 0 || h0_) step_products(t);
    }
    multiply_states();
    if (ctx_.has(In::bias)) sum_bias();
  }

 private:
  static int64_t panels(int64_t n) { return (n + kPanel - 1) / kPanel; }

  void pack_weight(const TensorImpl& weight) {
    const int64_t row = weight.meta.strides[0], column = weight.meta.strides[1];
    for (int64_t j = 0; j < size_.units; j += kPanel) {
      const int64_t n = std::min(kPanel, size_.units - j);
      gemm::pack(gemm::Matrix<T>{weight.as<T>() + j * column, row, column}, size_.wide, n,
                 packed_.data() + size_.wide * j, n);
    }
  }

  void set_last(size_t i, T* state) const {
    const InputRows<T> given(ctx_, i);
    for (int64_t b = 0; b < size_.batch; ++b) {
      T* to = state + b * size_.units;
      given ? std::copy_n(given.at(b), size_.units, to) : std::fill_n(to, size_.units, T(0));
    }
  }

  // The row of time t's state before, among those of `states` or the first ones.
  const T* before(const InputRows<T>& states, const InputRows<T>& first, int64_t b,
                  int64_t t) const {
    const int64_t from = attrs_.reverse ? t + 1 : t - 1;
    if (from >= 0 && from < lengths_[b]) return states.at(b, from);
    return first ? first.at(b) : zeros_.data();
  }

  // In panels of columns, and in the order of dx's rows, which lie without gaps.
  void gather_states() const {
    const int64_t rows = size_.batch * size_.steps;
    parallel_tiles(
        size_.batch, 0.3 * static_cast<double>(size_.steps * size_.units), [&](int64_t b) {
          for (int64_t t = 0; t < size_.steps; ++t) {
            const T* from = lengths_.goes_on(b, t) ? before(y_, h0_, b, t) : zeros_.data();
            const int64_t row = (b * dx_.batch + t * dx_.time) / size_.wide;
            for (int64_t j = 0; j < size_.units; j += kPanel) {
              const int64_t n = std::min(kPanel, size_.units - j);
              std::copy_n(from + j, n, before_.data() + rows * j + row * n);
            }
          }
        });
  }

  void step_cells(int64_t t) const {
    parallel_tiles(size_.batch, kUnitNs * static_cast<double>(size_.wide), [&](int64_t b) {
      if (!lengths_.goes_on(b, t)) {
        std::fill_n(dx_.at(b, t), size_.wide, T(0));
        if (apart_.size()) std::fill_n(dproduct_.at(b, t), size_.wide, T(0));
        return;
      }
      cell_({.units = size_.units,
             .grad_y = grad_y_ ? grad_y_.at(b, t) : nullptr,
             .activations = activations_.at(b, t),
             .y = y_.at(b, t),
             .h_before = before(y_, h0_, b, t),
             .cells = cells_.at(b, t),
             .c_before = size_.has_cells ? before(cells_, c0_, b, t) : nullptr,
             .dh = dh_ + b * size_.units,
             .dc = dc_ + b * size_.units,
             .dx = dx_.at(b, t),
             .dproduct = dproduct_.at(b, t)});
    });
  }

  void step_products(int64_t t) const {
    const int64_t groups = (size_.batch + kGroup - 1) / kGroup, columns = panels(size_.units);
    const double work =
        2.0 * static_cast<double>(std::min(size_.batch, kGroup) * kPanel * size_.wide);
    parallel_tiles(groups * columns, work / kFlopsPerNs, [&](int64_t tile) {
      const int64_t begin = tile / columns * kGroup, end = std::min(size_.batch, begin + kGroup);
      const int64_t j = tile % columns * kPanel, n = std::min(kPanel, size_.units - j);
      if (!lengths_.any_goes_on(begin, end, t)) return;
      const gemm::MicroKernel<T> multiply({.m = static_cast<int32_t>(end - begin),
                                           .n = static_cast<int32_t>(n),
                                           .k = static_cast<int32_t>(size_.wide),
                                           .lda = static_cast<int32_t>(dproduct_.batch),
                                           .ldb = static_cast<int32_t>(n),
                                           .ldc = static_cast<int32_t>(size_.units),
                                           .a_transposed = false,
                                           .adds = true});
      multiply(dproduct_.at(begin, t), packed_.data() + size_.wide * j,
               dh_ + begin * size_.units + j);
    });
  }

  // dproduct^T states, of all times.
  void multiply_states() const {
    const int64_t rows = size_.batch * size_.steps, columns = panels(size_.units),
                  bands = panels(size_.wide);
    T* const out = ctx_.out(Out::weight).template as<T>();
    const double work = 2.0 * static_cast<double>(kPanel * kPanel * rows);
    parallel_tiles(bands * columns, work / kFlopsPerNs, [&](int64_t tile) {
      const int64_t i = tile / columns * kPanel, m = std::min(kPanel, size_.wide - i);
      const int64_t j = tile % columns * kPanel, n = std::min(kPanel, size_.units - j);
      for (int64_t row = 0; row < rows; row += kDepth) {
        const gemm::MicroKernel<T> multiply(
            {.m = static_cast<int32_t>(m),
             .n = static_cast<int32_t>(n),
             .k = static_cast<int32_t>(std::min(kDepth, rows - row)),
             .lda = static_cast<int32_t>(size_.wide),
             .ldb = static_cast<int32_t>(n),
             .ldc = static_cast<int32_t>(size_.units),
             .a_transposed = true,
             .adds = row > 0});
        multiply(dproduct_.data + row * size_.wide + i, before_.data() + rows * j + row * n,
                 out + i * size_.units + j);
      }
    });
  }

  void sum_bias() const {
    const int64_t rows = size_.batch * size_.steps;
    const Scratch<T> ones(rows, T(1));
    gemm::multiply(gemm::Product<T>{.m = 1,
                                    .n = size_.wide,
                                    .k = rows,
                                    .a = {ones.data(), rows, 1},
                                    .b = {dproduct_.data, size_.wide, 1},
                                    .c = ctx_.out(Out::bias).template as<T>(),
                                    .c_row = size_.wide});
  }

  const KernelContext& ctx_;
  void (*cell_)(const CellBackward<T>&);
  RecurrentAttrs attrs_;
  const RecurrentSizes size_;
  InputRows<T> h0_, c0_, y_, activations_, cells_, grad_y_;
  Rows<T> dx_, dproduct_;
  Lengths lengths_;
  Scratch<T> before_, apart_, packed_, zeros_, own_states_;
  T *dh_, *dc_;
};

}  // namespace

template <typename T>
void backward(const KernelContext& ctx, const CellFns<T>& cell) {
  Backward<T>(ctx, cell).run();
}

template void backward(const KernelContext&, const CellFns<float>&);
template void backward(const KernelContext&, const CellFns<double>&);

}  // namespace thalweg::sequence
