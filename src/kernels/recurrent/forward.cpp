// Time by time: for some units of some sequences at once, the product of their gates' weights with
// the states, and while it is in the cache the cell's functions.

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
constexpr int64_t kWide = 128;

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
        block_(kWide / gates_),
        blocks_((units_ + block_ - 1) / block_),
        x_(ctx, In::gates),
        bias_(ctx, In::bias),
        y_(rows_of<T>(ctx.out(Out::y))),
        activations_(rows_of<T>(ctx.out(Out::activations))),
        cells_(rows_of<T>(ctx.out(Out::cells))),
        kept_(activation_count(attrs_.cell) * units_),
        has_cells_(attrs_.cell == RecurrentCell::lstm),
        lengths_(sequence_lengths(ctx, In::lengths, batch_, steps_)),
        packed_(gates_ * units_ * units_),
        other_(batch_ * units_),
        h_(ctx.out(Out::h).as<T>()),
        next_h_(other_.data()),
        c_(ctx.out(Out::c).as<T>()) {
    pack_weight(ctx.in(In::weight));
    set_first(ctx, In::h0, h_);
    if (has_cells_) set_first(ctx, In::c0, c_);
  }

  void run(T* last_h) {
    const int64_t groups = (batch_ + kGroup - 1) / kGroup;
    const double products =
        2.0 * static_cast<double>(std::min(batch_, kGroup) * gates_ * block_ * units_);
    const double ns = products / kFlopsPerNs +
                      kUnitNs * static_cast<double>(std::min(batch_, kGroup) * gates_ * block_);
    for (int64_t s = 0; s < steps_; ++s) {
      const int64_t t = attrs_.reverse ? steps_ - 1 - s : s;
      parallel_tiles(groups * blocks_, ns,
                     [&](int64_t tile) { step(t, tile / blocks_, tile % blocks_); });
      std::swap(h_, next_h_);
    }
    if (h_ != last_h) std::copy_n(h_, batch_ * units_, last_h);
  }

 private:
  int64_t block_units(int64_t block) const { return std::min(block_, units_ - block * block_); }

  // For each block of units the columns of its gates side by side.
  void pack_weight(const TensorImpl& weight) {
    const int64_t row = weight.meta.strides[0], column = weight.meta.strides[1];
    for (int64_t block = 0; block < blocks_; ++block) {
      const int64_t first = block * block_, n = block_units(block);
      T* to = packed_.data() + gates_ * first * units_;
      for (int64_t gate = 0; gate < gates_; ++gate) {
        const T* from = weight.as<T>() + (gate * units_ + first) * row;
        gemm::pack(gemm::Matrix<T>{from, column, row}, units_, n, to + gate * n, gates_ * n);
      }
    }
  }

  void set_first(const KernelContext& ctx, size_t i, T* state) const {
    const InputRows<T> given(ctx, i);
    for (int64_t b = 0; b < batch_; ++b) {
      T* to = state + b * units_;
      given ? std::copy_n(given.at(b), units_, to) : std::fill_n(to, units_, T(0));
    }
  }

  void step(int64_t t, int64_t group, int64_t block) const {
    const int64_t begin = group * kGroup, end = std::min(batch_, begin + kGroup);
    const int64_t first = block * block_, n = block_units(block), wide = gates_ * n;
    alignas(64) T product[kGroup * kWide];
    if (lengths_.any_goes_on(begin, end, t)) {
      fetch_ahead(begin, end, t, first, n);
      const gemm::MicroKernel<T> multiply({.m = static_cast<int32_t>(end - begin),
                                           .n = static_cast<int32_t>(wide),
                                           .k = static_cast<int32_t>(units_),
                                           .lda = static_cast<int32_t>(units_),
                                           .ldb = static_cast<int32_t>(wide),
                                           .ldc = static_cast<int32_t>(wide),
                                           .a_transposed = false,
                                           .adds = false});
      multiply(h_ + begin * units_, packed_.data() + gates_ * first * units_, product);
    }
    for (int64_t b = begin; b < end;) {
      int64_t next = b;
      while (next < end && lengths_.goes_on(next, t)) ++next;
      if (next > b) step_rows(b, next - b, t, first, n, product + (b - begin) * wide);
      if (next < end) pass_row(next++, t, first, n);
      b = next;
    }
  }

  // The rows of a time lie far apart: what the cells will read and write is on its way while the
  // product is made.
  void fetch_ahead(int64_t begin, int64_t end, int64_t t, int64_t first, int64_t n) const {
    constexpr int64_t kLine = 64 / sizeof(T);
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t gate = 0; gate < gates_; ++gate) {
        const T* x = x_.at(b, t) + gate * units_ + first;
        for (int64_t j = 0; j < n; j += kLine) __builtin_prefetch(x + j, 0, 2);
      }
      for (int64_t k = 0; k < kept_; k += units_) {
        const T* to = activations_.at(b, t) + k + first;
        for (int64_t j = 0; j < n; j += kLine) __builtin_prefetch(to + j, 1, 2);
      }
    }
  }

  void step_rows(int64_t b, int64_t rows, int64_t t, int64_t first, int64_t n,
                 const T* product) const {
    const int64_t state = b * units_ + first;
    cell_({.rows = rows,
           .units = n,
           .stride = units_,
           .product_stride = n,
           .x = x_.at(b, t) + first,
           .product = product,
           .bias = bias_ ? bias_.at(0) + first : nullptr,
           .h = h_ + state,
           .c = (has_cells_ ? c_ : next_h_) + state,
           .activations = activations_.at(b, t) + (kept_ ? first : 0),
           .cells = cells_.at(b, t) + (has_cells_ ? first : 0),
           .next_h = next_h_ + state,
           .y = y_.at(b, t) + first,
           .x_row = x_.batch_stride(),
           .product_row = gates_ * n,
           .state_row = units_,
           .activation_row = activations_.batch,
           .cell_row = cells_.batch,
           .y_row = y_.batch});
  }

  // A sequence that has ended keeps its state and gives zeros.
  void pass_row(int64_t b, int64_t t, int64_t first, int64_t n) const {
    std::copy_n(h_ + b * units_ + first, n, next_h_ + b * units_ + first);
    std::fill_n(y_.at(b, t) + first, n, T(0));
    for (int64_t k = 0; k < kept_; k += units_) {
      std::fill_n(activations_.at(b, t) + k + first, n, T(0));
    }
    if (has_cells_) std::fill_n(cells_.at(b, t) + first, n, T(0));
  }

  void (*cell_)(const CellForward<T>&);
  RecurrentAttrs attrs_;
  int64_t gates_, batch_, steps_, units_;
  int64_t block_, blocks_;  // units of a block, and how many there are
  InputRows<T> x_, bias_;
  Rows<T> y_, activations_, cells_;
  int64_t kept_;
  bool has_cells_;
  Lengths lengths_;
  Scratch<T> packed_, other_;
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
