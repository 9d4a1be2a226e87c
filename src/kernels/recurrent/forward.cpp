// Time by time: the product of the gates' weights with the states of all sequences, then the cell's
// functions, sequence by sequence, since the rows of a time may lie far apart.

#include <algorithm>

#include <thalweg/base/threads.h>

#include "kernels/gemm/micro_kernel.h"
#include "kernels/gemm/pack.h"
#include "kernels/recurrent/arrays.h"
#include "kernels/recurrent/layer.h"
#include "ops/recurrent.h"

namespace thalweg::sequence {
namespace {

using In = RecurrentIn;
using Out = RecurrentOut;

// Columns of a product.
constexpr int64_t kPanel = 128;
// Sequences whose cells a thread takes at once.
constexpr int64_t kRows = 8;

template <typename T>
class Forward {
 public:
  Forward(const KernelContext& ctx, const CellFns<T>& cell)
      : cell_(cell.forward),
        attrs_(ctx.attrs<RecurrentAttrs>()),
        size_(ctx.out(Out::y).meta.shape, attrs_.cell),
        x_(ctx, In::gates),
        bias_(ctx, In::bias),
        y_(rows_of<T>(ctx.out(Out::y))),
        activations_(rows_of<T>(ctx.out(Out::activations))),
        cells_(rows_of<T>(ctx.out(Out::cells))),
        lengths_(sequence_lengths(ctx, In::lengths, size_.batch, size_.steps)),
        packed_(size_.wide * size_.units),
        product_(size_.batch * size_.wide),
        other_(size_.batch * size_.units),
        h_(ctx.out(Out::h).as<T>()),
        next_h_(other_.data()),
        c_(ctx.out(Out::c).as<T>()) {
    pack_weight(ctx.in(In::weight));
    set_first(ctx, In::h0, h_);
    if (size_.has_cells) set_first(ctx, In::c0, c_);
  }

  void run(T* last_h) {
    for (int64_t s = 0; s < size_.steps; ++s) {
      const int64_t t = attrs_.reverse ? size_.steps - 1 - s : s;
      multiply(t);
      parallel_ranges(size_.batch, kRows, kUnitNs * static_cast<double>(size_.wide),
                      [&](int64_t begin, int64_t end) { step(t, begin, end); });
      std::swap(h_, next_h_);
    }
    if (h_ != last_h) std::copy_n(h_, size_.batch * size_.units, last_h);
  }

 private:
  void pack_weight(const TensorImpl& weight) {
    const int64_t row = weight.meta.strides[0], column = weight.meta.strides[1];
    for (int64_t j = 0; j < size_.wide; j += kPanel) {
      const int64_t n = std::min(kPanel, size_.wide - j);
      gemm::pack(gemm::Matrix<T>{weight.as<T>() + j * row, column, row}, size_.units, n,
                 packed_.data() + size_.units * j, n);
    }
  }

  void set_first(const KernelContext& ctx, size_t i, T* state) const {
    const InputRows<T> given(ctx, i);
    for (int64_t b = 0; b < size_.batch; ++b) {
      T* to = state + b * size_.units;
      given ? std::copy_n(given.at(b), size_.units, to) : std::fill_n(to, size_.units, T(0));
    }
  }

  void multiply(int64_t t) const {
    const int64_t groups = (size_.batch + kGroup - 1) / kGroup,
                  panels = (size_.wide + kPanel - 1) / kPanel;
    const double work =
        2.0 * static_cast<double>(std::min(size_.batch, kGroup) * kPanel * size_.units);
    parallel_tiles(groups * panels, work / kFlopsPerNs, [&](int64_t tile) {
      const int64_t begin = tile / panels * kGroup, end = std::min(size_.batch, begin + kGroup);
      const int64_t j = tile % panels * kPanel, n = std::min(kPanel, size_.wide - j);
      if (!lengths_.any_goes_on(begin, end, t)) return;
      const gemm::MicroKernel<T> kernel({.m = static_cast<int32_t>(end - begin),
                                         .n = static_cast<int32_t>(n),
                                         .k = static_cast<int32_t>(size_.units),
                                         .lda = static_cast<int32_t>(size_.units),
                                         .ldb = static_cast<int32_t>(n),
                                         .ldc = static_cast<int32_t>(size_.wide),
                                         .a_transposed = false,
                                         .adds = false});
      kernel(h_ + begin * size_.units, packed_.data() + size_.units * j,
             product_.data() + begin * size_.wide + j);
    });
  }

  void step(int64_t t, int64_t begin, int64_t end) const {
    for (int64_t b = begin; b < end;) {
      int64_t next = b;
      while (next < end && lengths_.goes_on(next, t)) ++next;
      if (next > b) step_rows(b, next - b, t);
      if (next < end) pass_row(next++, t);
      b = next;
    }
  }

  void step_rows(int64_t b, int64_t rows, int64_t t) const {
    const int64_t state = b * size_.units;
    cell_({.rows = rows,
           .units = size_.units,
           .x = x_.at(b, t),
           .product = product_.data() + b * size_.wide,
           .bias = bias_ ? bias_.at(0) : nullptr,
           .h = h_ + state,
           .c = (size_.has_cells ? c_ : next_h_) + state,
           .activations = activations_.at(b, t),
           .cells = cells_.at(b, t),
           .next_h = next_h_ + state,
           .y = y_.at(b, t),
           .x_row = x_.batch_stride(),
           .product_row = size_.wide,
           .state_row = size_.units,
           .activation_row = activations_.batch,
           .cell_row = cells_.batch,
           .y_row = y_.batch});
  }

  // A sequence that has ended keeps its state and gives zeros.
  void pass_row(int64_t b, int64_t t) const {
    std::copy_n(h_ + b * size_.units, size_.units, next_h_ + b * size_.units);
    std::fill_n(y_.at(b, t), size_.units, T(0));
    std::fill_n(activations_.at(b, t), size_.kept, T(0));
    if (size_.has_cells) std::fill_n(cells_.at(b, t), size_.units, T(0));
  }

  void (*cell_)(const CellForward<T>&);
  RecurrentAttrs attrs_;
  const RecurrentSizes size_;
  InputRows<T> x_, bias_;
  Rows<T> y_, activations_, cells_;
  Lengths lengths_;
  Scratch<T> packed_, product_, other_;
  T *h_, *next_h_, *c_;
};

}  // namespace

template <typename T>
void forward(const KernelContext& ctx, const CellFns<T>& cell) {
  Forward<T>(ctx, cell).run(ctx.out(Out::h).as<T>());
}

template void forward(const KernelContext&, const CellFns<float>&);
template void forward(const KernelContext&, const CellFns<double>&);

}  // namespace thalweg::sequence
