#pragma once

namespace thalweg::cli {

/// The whole program: parses, runs the command, prints an error as one line `thalweg: ...` and
/// returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace thalweg::cli
