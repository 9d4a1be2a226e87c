#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::cli {

/// A command as a shell has to know it.
struct CompletedCommand {
  std::string name;
  std::string doc;
  std::vector<std::string> options;      ///< "--seed"
  std::vector<std::string> option_docs;  ///< one line each
  std::vector<std::string> words;        ///< what may stand without an option, besides files
};

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

/// The script that makes `shell` complete the program's command lines. Throws Error{invalid} for
/// another shell.
std::string completion_script(std::string_view shell, std::span<const CompletedCommand> commands);

}  // namespace thalweg::cli
