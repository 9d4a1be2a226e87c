#pragma once

// Words and numbers as people write them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <thalweg/base/export.h>

namespace thalweg {

/// The candidate nearest to a mistyped `word` by edits (insert, delete, replace, swap neighbours;
/// letter case counts a quarter), the first of equals; none if all are too far for a typing error.
THALWEG_API std::optional<std::string_view> nearest_name(
    std::string_view word, std::span<const std::string_view> candidates);

/// "; did you mean 'batch_size'?", or "" if no candidate is near.
THALWEG_API std::string did_you_mean(std::string_view word,
                                     std::span<const std::string_view> candidates);

/// The text as one word of a POSIX shell: as it is where that is safe, else in single quotes.
THALWEG_API std::string shell_word(std::string_view text);

/// True where the bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates.
THALWEG_API bool is_utf8(std::string_view text);

/// "0 B", "1023 B", "1.5 KiB", "512 MiB": binary units, three digits.
THALWEG_API std::string format_bytes(uint64_t bytes);

/// "999", "60.0 k", "1.23 M", "4.5 G": decimal units, three digits.
THALWEG_API std::string format_count(uint64_t count);

/// "340 ns", "12.3 us", "7.5 ms", "42.0 s", "3:05 min", "2:07:09 h". Not negative.
THALWEG_API std::string format_duration(double seconds);

/// "512MiB", "1.5 GB", "64k", "4096": KiB, MiB, GiB, TiB count in 1024s, kB, MB, GB, TB in 1000s, a
/// bare K, M, G, T in 1024s; letter case is free. None if it is no size or not below 2^63.
THALWEG_API std::optional<uint64_t> parse_bytes(std::string_view text);

}  // namespace thalweg
