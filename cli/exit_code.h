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

/// In a handler: one line about the exception on standard error; what the program returns for it,
/// kExitOk where those who read its output have seen enough.
int report_error();

/// Of two, the one that says more: an error in Thalweg itself before all others.
int worse_of(int code, int other);

/// The lines of --help about these.
std::string exit_code_help();

}  // namespace thalweg::cli
