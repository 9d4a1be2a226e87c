#pragma once

// Bytes and the numbers they spell, in either order. Parsers take Bytes and the name to blame.

#include <bit>
#include <cstddef>
#include <cstdint>
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

namespace detail {
template <size_t kSize>
using Unsigned = std::conditional_t<
    kSize == 1, uint8_t,
    std::conditional_t<kSize == 2, uint16_t, std::conditional_t<kSize == 4, uint32_t, uint64_t>>>;
}

/// A number type that has a fixed size in files.
template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;

/// The number of type T in the sizeof(T) bytes at `from`, lowest byte first.
template <Number T>
T load_le(const std::byte* from) {
  detail::Unsigned<sizeof(T)> bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    bits |= static_cast<decltype(bits)>(static_cast<uint64_t>(from[i]) << (8 * i));
  return std::bit_cast<T>(bits);
}

/// The same, highest byte first.
template <Number T>
T load_be(const std::byte* from) {
  detail::Unsigned<sizeof(T)> bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    bits |=
        static_cast<decltype(bits)>(static_cast<uint64_t>(from[i]) << (8 * (sizeof(T) - 1 - i)));
  return std::bit_cast<T>(bits);
}

template <Number T>
void store_le(T value, std::byte* to) {
  const auto bits = std::bit_cast<detail::Unsigned<sizeof(T)>>(value);
  for (size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(bits >> (8 * i));
}

template <Number T>
void store_be(T value, std::byte* to) {
  const auto bits = std::bit_cast<detail::Unsigned<sizeof(T)>>(value);
  for (size_t i = 0; i < sizeof(T); ++i)
    to[i] = static_cast<std::byte>(bits >> (8 * (sizeof(T) - 1 - i)));
}

}  // namespace thalweg
