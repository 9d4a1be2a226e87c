#include "cli/completion.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thalweg/base/text.h>

#include "base/fail.h"

namespace thalweg::cli {
namespace {

std::string command_names(std::span<const CompletedCommand> commands) {
  std::vector<std::string> names;
  for (const CompletedCommand& command : commands) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_script(std::span<const CompletedCommand> commands) {
  std::string text = fmt::format(
      "# Completion of thalweg for bash: source <(thalweg completion bash)\n"
      "_thalweg() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} options= words=\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "    COMPREPLY=($(compgen -W {} -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      shell_word(command_names(commands) + " --help --version"));
  for (const CompletedCommand& command : commands) {
    text += fmt::format("    {}) options={} words={} ;;\n", command.name,
                        shell_word(fmt::format("{}", fmt::join(command.options, " "))),
                        shell_word(fmt::format("{}", fmt::join(command.words, " "))));
  }
  text +=
      "  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _thalweg thalweg\n";
  return text;
}

std::string zsh_script(std::span<const CompletedCommand> commands) {
  std::string text =
      "#compdef thalweg\n"
      "# Completion of thalweg for zsh: source <(thalweg completion zsh)\n"
      "_thalweg() {\n"
      "  if (( CURRENT == 2 )); then\n";
  text += fmt::format("    compadd -- {} --help --version\n", command_names(commands));
  text += "    return\n  fi\n  case $words[2] in\n";
  for (const CompletedCommand& command : commands) {
    text += fmt::format("    {}) compadd -- {} {} ;;\n", command.name,
                        fmt::join(command.options, " "), fmt::join(command.words, " "));
  }
  text += "  esac\n  _files\n}\ncompdef _thalweg thalweg\n";
  return text;
}

std::string fish_script(std::span<const CompletedCommand> commands) {
  std::string text = "# Completion of thalweg for fish: thalweg completion fish | source\n";
  for (const CompletedCommand& command : commands) {
    text += fmt::format("complete -c thalweg -n __fish_use_subcommand -f -a {} -d {}\n",
                        command.name, shell_word(command.doc));
    const std::string condition =
        shell_word(fmt::format("__fish_seen_subcommand_from {}", command.name));
    for (size_t i = 0; i < command.options.size(); ++i) {
      text += fmt::format("complete -c thalweg -n {} -l {} -d {}\n", condition,
                          command.options[i].substr(2), shell_word(command.option_docs[i]));
    }
    for (const std::string& word : command.words) {
      text += fmt::format("complete -c thalweg -n {} -a {}\n", condition, word);
    }
  }
  return text;
}

}  // namespace

std::string completion_script(std::string_view shell, std::span<const CompletedCommand> commands) {
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh") return zsh_script(commands);
  if (shell == "fish") return fish_script(commands);
  fail_invalid("completion: no script for '{}'; known are {}{}", shell, fmt::join(kShells, ", "),
               did_you_mean(shell, kShells));
}

}  // namespace thalweg::cli
