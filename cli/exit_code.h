#pragma once

#include <string>

#include <thalweg/base/error.h>

namespace thalweg::cli {

// What the program returns. A signal that ended the run gives 128 + its number: 130 for Ctrl-C.
inline constexpr int kExitOk = 0;
inline constexpr int kExitInternal = 1;
inline constexpr int kExitInvalid = 2;
inline constexpr int kExitIo = 3;
inline constexpr int kExitUnavailable = 4;
inline constexpr int kExitSignal = 128;

int exit_code(ErrorKind kind);

/// The lines of --help about these.
std::string exit_code_help();

}  // namespace thalweg::cli
