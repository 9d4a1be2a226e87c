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

// The functions of the gates. In f32 they are made for speed, within 4 ulp as the others are: an
// exponential of arguments that cannot overflow, and a reciprocal by one step of Newton's.

HWY_INLINE Simd<double> squash(Simd<double> x) { return 1 / (1 + num::exp(-x)); }
HWY_INLINE Simd<double> bend(Simd<double> x) { return num::tanh(x); }

// NaN stays: x86 gives the second operand where one is NaN.
HWY_INLINE Simd<float> clamp(Simd<float> x, float most) {
  const Simd<float> low = hn::Max(Simd<float>(-most).v, x.v);
  return hn::Min(Simd<float>(most).v, low.v);
}

// e^x for |x| <= 87: Cody and Waite's reduction to |r| <= log(2) / 2, and the polynomial of
// Moshier's Cephes there.
HWY_INLINE Simd<float> exp_within(Simd<float> x) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  // The last bits of a sum with 1.5 * 2^23 are the nearest integer.
  const auto shifted = hn::MulAdd(x.v, hn::Set(d, 1.44269504f), hn::Set(d, 12582912.0f));
  const auto n = hn::Sub(shifted, hn::Set(d, 12582912.0f));
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x.v);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  const Simd<float> tail =
      num::polynomial(Simd<float>(r), 5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2,
                      8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4);
  const auto e = hn::Add(hn::MulAdd(tail.v, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  const auto power = hn::ShiftLeft<23>(hn::Add(hn::BitCast(di, shifted), hn::Set(di, 127)));
  return hn::Mul(e, hn::BitCast(d, power));
}

// 1 / x of normal numbers up to 2^126.
HWY_INLINE Simd<float> reciprocal(Simd<float> x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const auto y = hn::ApproximateReciprocal(x.v);  // to 14 bits
  return hn::MulAdd(y, hn::NegMulAdd(x.v, y, Simd<float>(1).v), y);
#else
  return 1 / x;
#endif
}

HWY_INLINE Simd<float> squash(Simd<float> x) { return reciprocal(1 + exp_within(clamp(-x, 87))); }

// Near 0 the polynomial of Cephes.
HWY_INLINE Simd<float> bend(Simd<float> x) {
  const Simd<float> s = x * x;
  const Simd<float> tail = num::polynomial(s, -3.33332819422e-1, 1.33314422036e-1,
                                           -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3);
  const Simd<float> near = hn::MulAdd((tail * s).v, x.v, x.v);
  const Simd<float> far = 1 - 2 * reciprocal(1 + exp_within(clamp(x + x, 87)));
  return select(num::abs(x) < 0.625, near, far);
}

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

template <typename T, typename Step>
HWY_INLINE void for_rows(CellForward<T> f, Step step) {
  for (int64_t row = 0; row < f.rows; ++row, f.next_row()) {
    for_units<T>(f.units, [&](auto at, int64_t j) HWY_ATTR { step(f, at, j); });
  }
}

// The state's part of a gate.
template <typename T, typename A>
HWY_INLINE Simd<T> product_of(const CellForward<T>& f, A at, int64_t gate, int64_t j) {
  const Simd<T> product = at.load(f.product + gate * f.units + j);
  return f.bias ? product + at.load(f.bias + gate * f.units + j) : product;
}
template <typename T, typename A>
HWY_INLINE Simd<T> gate_of(const CellForward<T>& f, A at, int64_t gate, int64_t j) {
  // The next sequence's row lies on another page, where the processor does not look ahead.
  __builtin_prefetch(f.x + f.x_row + gate * f.units + j);
  return at.load(f.x + gate * f.units + j) + product_of(f, at, gate, j);
}
template <typename T, typename A>
HWY_INLINE void set_state(const CellForward<T>& f, A at, Simd<T> h, int64_t j) {
  at.store(h, f.next_h + j);
  at.store(h, f.y + j);
}

template <typename T>
void lstm_forward(const CellForward<T>& tile) {
  for_rows(tile, [](const CellForward<T>& f, auto at, int64_t j) HWY_ATTR {
    const Simd<T> i = squash(gate_of(f, at, 0, j)), forget = squash(gate_of(f, at, 1, j));
    const Simd<T> g = bend(gate_of(f, at, 2, j)), o = squash(gate_of(f, at, 3, j));
    const Simd<T> c = forget * at.load(f.c + j) + i * g;
    at.store(i, f.activations + j);
    at.store(forget, f.activations + f.units + j);
    at.store(g, f.activations + 2 * f.units + j);
    at.store(o, f.activations + 3 * f.units + j);
    at.store(c, f.c + j);
    at.store(c, f.cells + j);
    set_state(f, at, o * bend(c), j);
  });
}

template <typename T>
void lstm_backward(const CellBackward<T>& b) {
  for_units<T>(b.units, [&](auto at, int64_t j) HWY_ATTR {
    const auto activation = [&](int64_t gate)
                                HWY_ATTR { return at.load(b.activations + gate * b.units + j); };
    const Simd<T> i = activation(0), f = activation(1), g = activation(2), o = activation(3);
    const Simd<T> t = bend(at.load(b.cells + j));
    Simd<T> dh = at.load(b.dh + j);
    if (b.grad_y) dh = dh + at.load(b.grad_y + j);
    const Simd<T> dc = at.load(b.dc + j) + dh * o * (1 - t * t);
    at.store(dc * g * i * (1 - i), b.dx + j);
    at.store(dc * at.load(b.c_before + j) * f * (1 - f), b.dx + b.units + j);
    at.store(dc * i * (1 - g * g), b.dx + 2 * b.units + j);
    at.store(dh * t * o * (1 - o), b.dx + 3 * b.units + j);
    at.store(dc * f, b.dc + j);
    at.store(Simd<T>(0), b.dh + j);
  });
}

template <typename T>
void gru_forward(const CellForward<T>& tile) {
  for_rows(tile, [](const CellForward<T>& f, auto at, int64_t j) HWY_ATTR {
    const Simd<T> r = squash(gate_of(f, at, 0, j)), z = squash(gate_of(f, at, 1, j));
    const Simd<T> product = product_of(f, at, 2, j);
    const Simd<T> n = bend(at.load(f.x + 2 * f.units + j) + r * product);
    at.store(r, f.activations + j);
    at.store(z, f.activations + f.units + j);
    at.store(n, f.activations + 2 * f.units + j);
    at.store(product, f.activations + 3 * f.units + j);
    set_state(f, at, (1 - z) * n + z * at.load(f.h + j), j);
  });
}

template <typename T>
void gru_backward(const CellBackward<T>& b) {
  for_units<T>(b.units, [&](auto at, int64_t j) HWY_ATTR {
    const auto activation = [&](int64_t gate)
                                HWY_ATTR { return at.load(b.activations + gate * b.units + j); };
    const Simd<T> r = activation(0), z = activation(1), n = activation(2), product = activation(3);
    Simd<T> dh = at.load(b.dh + j);
    if (b.grad_y) dh = dh + at.load(b.grad_y + j);
    const Simd<T> dn = dh * (1 - z) * (1 - n * n);
    const Simd<T> dr = dn * product * r * (1 - r);
    const Simd<T> dz = dh * (at.load(b.h_before + j) - n) * z * (1 - z);
    at.store(dr, b.dx + j);
    at.store(dr, b.dproduct + j);
    at.store(dz, b.dx + b.units + j);
    at.store(dz, b.dproduct + b.units + j);
    at.store(dn, b.dx + 2 * b.units + j);
    at.store(dn * r, b.dproduct + 2 * b.units + j);
    at.store(dh * z, b.dh + j);
  });
}

template <typename T, bool kTanh>
void elman_forward(const CellForward<T>& tile) {
  for_rows(tile, [](const CellForward<T>& f, auto at, int64_t j) HWY_ATTR {
    const Simd<T> sum = gate_of(f, at, 0, j);
    set_state(f, at, kTanh ? bend(sum) : num::max(sum, 0), j);
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
