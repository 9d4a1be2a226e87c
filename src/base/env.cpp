#include <charconv>
#include <cstdlib>

#include <thalweg/base/env.h>

#include "base/fail.h"

namespace thalweg {

std::optional<std::string> env_string(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<int64_t> env_int(const char* name, int64_t min, int64_t max) {
  const std::optional<std::string> text = env_string(name);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || rest != end || value < min || value > max) {
    fail_invalid("environment: {} is not an integer from {} to {}; {}={}", name, min, max, name,
                 *text);
  }
  return value;
}

}  // namespace thalweg
