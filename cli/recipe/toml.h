#pragma once

// toml++ 3.3, compiled in. It asserts what a malformed table header, `[=`, breaks, and without
// assertions it goes on into undefined behaviour, as the distribution's library does; here it
// throws.

namespace thalweg::cli {

/// What toml++ holds for impossible has happened.
struct TomlAssertion {};

[[noreturn]] inline void throw_toml_assertion() { throw TomlAssertion(); }

}  // namespace thalweg::cli

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) \
  (static_cast<bool>(expr) ? static_cast<void>(0) : ::thalweg::cli::throw_toml_assertion())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
