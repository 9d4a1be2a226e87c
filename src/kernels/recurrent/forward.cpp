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
        gates_(gate_count(attrs_.cell)),
        batch_(ctx.out(Out::y).meta.shape[0]),
        steps_(ctx.out(Out::y).meta.shape[1]),
        units_(ctx.out(Out::y).meta.shape[2]),
        wide_(gates_ * units_),
        x_(ctx, In::gates),
        bias_(ctx, In::bias),
        y_(rows_of<T>(ctx.out(Out::y))),
        activations_(rows_of<T>(ctx.out(Out::activations))),
        cells_(rows_of<T>(ctx.out(Out::cells))),
        kept_(activation_count(attrs_.cell) * units_),
        has_cells_(attrs_.cell == RecurrentCell::lstm),
        lengths_(sequence_lengths(ctx, In::lengths, batch_, steps_)),
        packed_(wide_ * units_),
        product_(batch_ * wide_),
        other_(batch_ * units_),
        h_(ctx.out(Out::h).as<T>()),
        next_h_(other_.data()),
        c_(ctx.out(Out::c).as<T>()) {
    pack_weight(ctx.in(In::weight));
    set_first(ctx, In::h0, h_);
    if (has_cells_) set_first(ctx, In::c0, c_);
  }

  void run(T* last_h) {
    for (int64_t s = 0; s < steps_; ++s) {
      const int64_t t = attrs_.reverse ? steps_ - 1 - s : s;
      multiply(t);
      parallel_ranges(batch_, kRows, kUnitNs * static_cast<double>(wide_),
                      [&](int64_t begin, int64_t end) { step(t, begin, end); });
      std::swap(h_, next_h_);
    }
    if (h_ != last_h) std::copy_n(h_, batch_ * units_, last_h);
  }

 private:
  void pack_weight(const TensorImpl& weight) {
    const int64_t row = weight.meta.strides[0], column = weight.meta.strides[1];
    for (int64_t j = 0; j < wide_; j += kPanel) {
      const int64_t n = std::min(kPanel, wide_ - j);
      gemm::pack(gemm::Matrix<T>{weight.as<T>() + j * row, column, row}, units_, n,
                 packed_.data() + units_ * j, n);
    }
  }

  void set_first(const KernelContext& ctx, size_t i, T* state) const {
    const InputRows<T> given(ctx, i);
    for (int64_t b = 0; b < batch_; ++b) {
      T* to = state + b * units_;
      given ? std::copy_n(given.at(b), units_, to) : std::fill_n(to, units_, T(0));
    }
  }

  void multiply(int64_t t) const {
    const int64_t groups = (batch_ + kGroup - 1) / kGroup, panels = (wide_ + kPanel - 1) / kPanel;
    const double work = 2.0 * static_cast<double>(std::min(batch_, kGroup) * kPanel * units_);
    parallel_tiles(groups * panels, work / kFlopsPerNs, [&](int64_t tile) {
      const int64_t begin = tile / panels * kGroup, end = std::min(batch_, begin + kGroup);
      const int64_t j = tile % panels * kPanel, n = std::min(kPanel, wide_ - j);
      if (!lengths_.any_goes_on(begin, end, t)) return;
      const gemm::MicroKernel<T> kernel({.m = static_cast<int32_t>(end - begin),
                                         .n = static_cast<int32_t>(n),
                                         .k = static_cast<int32_t>(units_),
                                         .lda = static_cast<int32_t>(units_),
                                         .ldb = static_cast<int32_t>(n),
                                         .ldc = static_cast<int32_t>(wide_),
                                         .a_transposed = false,
                                         .adds = false});
      kernel(h_ + begin * units_, packed_.data() + units_ * j, product_.data() + begin * wide_ + j);
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
    const int64_t state = b * units_;
    cell_({.rows = rows,
           .units = units_,
           .x = x_.at(b, t),
           .product = product_.data() + b * wide_,
           .bias = bias_ ? bias_.at(0) : nullptr,
           .h = h_ + state,
           .c = (has_cells_ ? c_ : next_h_) + state,
           .activations = activations_.at(b, t),
           .cells = cells_.at(b, t),
           .next_h = next_h_ + state,
           .y = y_.at(b, t),
           .x_row = x_.batch_stride(),
           .product_row = wide_,
           .state_row = units_,
           .activation_row = activations_.batch,
           .cell_row = cells_.batch,
           .y_row = y_.batch});
  }

  // A sequence that has ended keeps its state and gives zeros.
  void pass_row(int64_t b, int64_t t) const {
    std::copy_n(h_ + b * units_, units_, next_h_ + b * units_);
    std::fill_n(y_.at(b, t), units_, T(0));
    std::fill_n(activations_.at(b, t), kept_, T(0));
    if (has_cells_) std::fill_n(cells_.at(b, t), units_, T(0));
  }

  void (*cell_)(const CellForward<T>&);
  RecurrentAttrs attrs_;
  int64_t gates_, batch_, steps_, units_, wide_;
  InputRows<T> x_, bias_;
  Rows<T> y_, activations_, cells_;
  int64_t kept_;
  bool has_cells_;
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
