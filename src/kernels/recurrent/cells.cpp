// clang-format off
#include "kernels/simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/recurrent/cells.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "kernels/simd/math-inl.h"
// clang-format on

#include "kernels/recurrent/cells.h"

HWY_BEFORE_NAMESPACE();
namespace thalweg::HWY_NAMESPACE {
namespace {

using sequence::CellBackward;
using sequence::CellForward;

// Loads and stores of `count` elements: whole vectors, or the first ones of the last vector.
template <typename T, bool kWhole>
struct Access {
  size_t count;

  HWY_INLINE Simd<T> load(const T* p) const {
    if constexpr (kWhole) return hn::LoadU(hn::ScalableTag<T>(), p);
    return load_first(p, count);
  }
  HWY_INLINE void store(Simd<T> x, T* p) const {
    if constexpr (kWhole)
      hn::StoreU(x.v, hn::ScalableTag<T>(), p);
    else
      store_first(x, p, count);
  }
};

// Calls step(access, j) for the units from j on.
template <typename T, typename Step>
HWY_INLINE void for_units(int64_t units, Step step) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  int64_t j = 0;
  for (; j + lanes <= units; j += lanes) step(Access<T, true>{static_cast<size_t>(lanes)}, j);
  if (j < units) step(Access<T, false>{static_cast<size_t>(units - j)}, j);
}

// The state's part of a gate.
template <typename T, typename A>
HWY_INLINE Simd<T> product_of(const CellForward<T>& f, A at, int64_t gate, int64_t j) {
  const Simd<T> product = at.load(f.product + gate * f.product_stride + j);
  return f.bias ? product + at.load(f.bias + gate * f.stride + j) : product;
}
template <typename T, typename A>
HWY_INLINE Simd<T> gate_of(const CellForward<T>& f, A at, int64_t gate, int64_t j) {
  return at.load(f.x + gate * f.stride + j) + product_of(f, at, gate, j);
}
template <typename T, typename A>
HWY_INLINE void set_state(const CellForward<T>& f, A at, Simd<T> h, int64_t j) {
  at.store(h, f.next_h + j);
  at.store(h, f.y + j);
}

template <typename T>
void lstm_forward(const CellForward<T>& f) {
  for_units<T>(f.units, [&](auto at, int64_t j) HWY_ATTR {
    const Simd<T> i = num::sigmoid(gate_of(f, at, 0, j)),
                  forget = num::sigmoid(gate_of(f, at, 1, j));
    const Simd<T> g = num::tanh(gate_of(f, at, 2, j)), o = num::sigmoid(gate_of(f, at, 3, j));
    const Simd<T> c = forget * at.load(f.c + j) + i * g;
    at.store(i, f.activations + j);
    at.store(forget, f.activations + f.stride + j);
    at.store(g, f.activations + 2 * f.stride + j);
    at.store(o, f.activations + 3 * f.stride + j);
    at.store(c, f.c + j);
    at.store(c, f.cells + j);
    set_state(f, at, o * num::tanh(c), j);
  });
}

template <typename T>
void lstm_backward(const CellBackward<T>& b) {
  for_units<T>(b.units, [&](auto at, int64_t j) HWY_ATTR {
    const auto activation = [&](int64_t gate)
                                HWY_ATTR { return at.load(b.activations + gate * b.stride + j); };
    const Simd<T> i = activation(0), f = activation(1), g = activation(2), o = activation(3);
    const Simd<T> t = num::tanh(at.load(b.cells + j));
    Simd<T> dh = at.load(b.dh + j);
    if (b.grad_y) dh = dh + at.load(b.grad_y + j);
    const Simd<T> dc = at.load(b.dc + j) + dh * o * (1 - t * t);
    at.store(dc * g * i * (1 - i), b.dx + j);
    at.store(dc * at.load(b.c_before + j) * f * (1 - f), b.dx + b.stride + j);
    at.store(dc * i * (1 - g * g), b.dx + 2 * b.stride + j);
    at.store(dh * t * o * (1 - o), b.dx + 3 * b.stride + j);
    at.store(dc * f, b.dc + j);
    at.store(Simd<T>(0), b.dh + j);
  });
}

template <typename T>
void gru_forward(const CellForward<T>& f) {
  for_units<T>(f.units, [&](auto at, int64_t j) HWY_ATTR {
    const Simd<T> r = num::sigmoid(gate_of(f, at, 0, j)), z = num::sigmoid(gate_of(f, at, 1, j));
    const Simd<T> product = product_of(f, at, 2, j);
    const Simd<T> n = num::tanh(at.load(f.x + 2 * f.stride + j) + r * product);
    at.store(r, f.activations + j);
    at.store(z, f.activations + f.stride + j);
    at.store(n, f.activations + 2 * f.stride + j);
    at.store(product, f.activations + 3 * f.stride + j);
    set_state(f, at, (1 - z) * n + z * at.load(f.h + j), j);
  });
}

template <typename T>
void gru_backward(const CellBackward<T>& b) {
  for_units<T>(b.units, [&](auto at, int64_t j) HWY_ATTR {
    const auto activation = [&](int64_t gate)
                                HWY_ATTR { return at.load(b.activations + gate * b.stride + j); };
    const Simd<T> r = activation(0), z = activation(1), n = activation(2), product = activation(3);
    Simd<T> dh = at.load(b.dh + j);
    if (b.grad_y) dh = dh + at.load(b.grad_y + j);
    const Simd<T> dn = dh * (1 - z) * (1 - n * n);
    const Simd<T> dr = dn * product * r * (1 - r);
    const Simd<T> dz = dh * (at.load(b.h_before + j) - n) * z * (1 - z);
    at.store(dr, b.dx + j);
    at.store(dr, b.dproduct + j);
    at.store(dz, b.dx + b.stride + j);
    at.store(dz, b.dproduct + b.stride + j);
    at.store(dn, b.dx + 2 * b.stride + j);
    at.store(dn * r, b.dproduct + 2 * b.stride + j);
    at.store(dh * z, b.dh + j);
  });
}

template <typename T, bool kTanh>
void elman_forward(const CellForward<T>& f) {
  for_units<T>(f.units, [&](auto at, int64_t j) HWY_ATTR {
    const Simd<T> sum = gate_of(f, at, 0, j);
    set_state(f, at, kTanh ? num::tanh(sum) : num::max(sum, 0), j);
  });
}

template <typename T, bool kTanh>
void elman_backward(const CellBackward<T>& b) {
  for_units<T>(b.units, [&](auto at, int64_t j) HWY_ATTR {
    Simd<T> dh = at.load(b.dh + j);
    if (b.grad_y) dh = dh + at.load(b.grad_y + j);
    const Simd<T> y = at.load(b.y + j);
    at.store(kTanh ? dh * (1 - y * y) : select(y > 0, dh, Simd<T>(0)), b.dx + j);
    at.store(Simd<T>(0), b.dh + j);
  });
}

template <typename T>
void fill_table(sequence::CellTable<T>& table) {
  table.by_cell[0] = {lstm_forward<T>, lstm_backward<T>};
  table.by_cell[1] = {gru_forward<T>, gru_backward<T>};
  table.by_cell[2] = {elman_forward<T, true>, elman_backward<T, true>};
  table.by_cell[3] = {elman_forward<T, false>, elman_backward<T, false>};
}

void fill(sequence::CellTable<float>& f32, sequence::CellTable<double>& f64) {
  fill_table(f32);
  fill_table(f64);
}

}  // namespace
}  // namespace thalweg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thalweg {
HWY_EXPORT(fill);

void sequence::fill_cells(CellTable<float>& f32, CellTable<double>& f64) {
  HWY_DYNAMIC_DISPATCH(fill)(f32, f64);
}
}  // namespace thalweg
#endif
