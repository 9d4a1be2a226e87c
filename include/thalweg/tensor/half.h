#pragma once

#include <bit>
#include <cstdint>

#include <thalweg/base/host_device.h>

namespace thalweg {

namespace detail {

/// IEEE 754 binary32 to binary16, round to nearest even; NaN stays NaN, overflow becomes infinity.
THALWEG_HOST_DEVICE constexpr uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal in f16: let the f32 adder round at 2^-24
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

THALWEG_HOST_DEVICE constexpr float f16_to_f32(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

/// binary32 to bfloat16, round to nearest even; NaN stays NaN.
THALWEG_HOST_DEVICE constexpr uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

THALWEG_HOST_DEVICE constexpr float bf16_to_f32(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

}  // namespace detail

/// IEEE 754 binary16. Arithmetic goes through float.
struct Float16 {
  uint16_t bits = 0;
  constexpr Float16() = default;
  THALWEG_HOST_DEVICE constexpr Float16(float value) : bits(detail::f32_to_f16(value)) {}
  THALWEG_HOST_DEVICE constexpr operator float() const { return detail::f16_to_f32(bits); }
  static constexpr Float16 from_bits(uint16_t bits) {
    Float16 h;
    h.bits = bits;
    return h;
  }
};

/// bfloat16: the upper half of a binary32. Arithmetic goes through float.
struct BFloat16 {
  uint16_t bits = 0;
  constexpr BFloat16() = default;
  THALWEG_HOST_DEVICE constexpr BFloat16(float value) : bits(detail::f32_to_bf16(value)) {}
  THALWEG_HOST_DEVICE constexpr operator float() const { return detail::bf16_to_f32(bits); }
  static constexpr BFloat16 from_bits(uint16_t bits) {
    BFloat16 h;
    h.bits = bits;
    return h;
  }
};

}  // namespace thalweg
