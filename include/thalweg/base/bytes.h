#pragma once

// Bytes and the numbers they spell, in either order. Parsers take Bytes and the name to blame.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace thalweg {

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A number type that has a fixed size in files.
template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;

namespace detail {

template <size_t kSize>
using Unsigned = std::conditional_t<
    kSize == 1, uint8_t,
    std::conditional_t<kSize == 2, uint16_t, std::conditional_t<kSize == 4, uint32_t, uint64_t>>>;

template <std::endian kOrder, typename Bits>
Bits in_order(Bits bits) {
  if constexpr (kOrder == std::endian::native || sizeof(Bits) == 1) return bits;
  if constexpr (sizeof(Bits) == 2) return __builtin_bswap16(bits);
  if constexpr (sizeof(Bits) == 4) return __builtin_bswap32(bits);
  if constexpr (sizeof(Bits) == 8) return __builtin_bswap64(bits);
}

template <std::endian kOrder, Number T>
T load(const std::byte* from) {
  Unsigned<sizeof(T)> bits;
  std::memcpy(&bits, from, sizeof(T));
  return std::bit_cast<T>(in_order<kOrder>(bits));
}

template <std::endian kOrder, Number T>
void store(T value, std::byte* to) {
  const auto bits = in_order<kOrder>(std::bit_cast<Unsigned<sizeof(T)>>(value));
  std::memcpy(to, &bits, sizeof(T));
}

}  // namespace detail

/// The number of type T in the sizeof(T) bytes at `from`, lowest byte first.
template <Number T>
T load_le(const std::byte* from) {
  return detail::load<std::endian::little, T>(from);
}

/// The same, highest byte first.
template <Number T>
T load_be(const std::byte* from) {
  return detail::load<std::endian::big, T>(from);
}

/// Writes the sizeof(T) bytes of `value` to `to`, lowest byte first.
template <Number T>
void store_le(T value, std::byte* to) {
  detail::store<std::endian::little>(value, to);
}

/// The same, highest byte first.
template <Number T>
void store_be(T value, std::byte* to) {
  detail::store<std::endian::big>(value, to);
}

}  // namespace thalweg
