// SPDX-License-Identifier: Apache-2.0
//
// Scripts for shells, made from the commands themselves: a new option is in them by itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "commands/commands.h"

namespace detops::cli {
namespace {

struct Words {
  std::string path;  // "detops run poly_nms"
  std::vector<std::string> commands, options;
};

void Collect(const Command& command, const std::string& path, std::vector<Words>& all) {
  Words words = {path, {}, command.options()};
  for (const Command& sub : command.commands()) words.commands.push_back(sub.name());
  all.push_back(words);
  for (const Command& sub : command.commands()) Collect(sub, path + " " + sub.name(), all);
}

std::string Bash(const std::vector<Words>& all) {
  std::string cases;
  for (const Words& w : all) {
    cases += fmt::format("    '{}') words='{} {}' ;;\n", w.path, fmt::join(w.commands, " "),
                         fmt::join(w.options, " "));
  }
  return fmt::format(R"(_detops() {{
  local path=detops words= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) break ;; *) path="$path $word" ;; esac
  done
  case "$path" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _detops detops
)",
                     cases);
}

std::string Fish(const std::vector<Words>& all) {
  std::string script;
  for (const Words& w : all) {
    const size_t space = w.path.rfind(' ');
    const std::string condition = space == std::string::npos
                                      ? "__fish_use_subcommand"
                                      : "__fish_seen_subcommand_from " + w.path.substr(space + 1);
    for (const std::string& command : w.commands) {
      script += fmt::format("complete -c detops -n '{}' -a {}\n", condition, command);
    }
    for (const std::string& option : w.options) {
      script += fmt::format("complete -c detops -n '{}' -l {}\n", condition, option.substr(2));
    }
  }
  return script;
}

}  // namespace

void AddCompletion(Command& program, int&) {
  Command completion =
      program.AddCommand("completion", "a script that completes commands and options");
  auto shell = std::make_shared<std::string>("bash");
  completion.Add("shell", *shell, "which shell").OneOf({"bash", "zsh", "fish"}).ShowDefault();
  completion.Footer(
      "Examples:\n"
      "  source <(detops completion bash)\n"
      "  detops completion fish > ~/.config/fish/completions/detops.fish");
  completion.OnCall([shell, &program] {
    std::vector<Words> all;
    Collect(program, "detops", all);
    // zsh reads bash's scripts.
    if (*shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
    fmt::print("{}", *shell == "fish" ? Fish(all) : Bash(all));
  });
}

}  // namespace detops::cli
