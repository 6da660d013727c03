/// The scripts with which shells ask the program what can stand where the cursor is.
#include <array>

#include "completion.h"
#include "hindsight/core/enum_names.h"

namespace hindsight::app {
namespace {

enum class Shell { bash, zsh, fish };
constexpr EnumNames<Shell, 3> kShells{{{Shell::bash, "bash"}, {Shell::zsh, "zsh"}, {Shell::fish, "fish"}}};

/// Readline splits words at = and : and replaces the last piece only, so that what stands before is taken away again.
constexpr const char* kBash = R"(# bash completion of hindsight; written by `hindsight completion bash`.
_hindsight() {
  local line kind front current
  local -a typed answer
  COMPREPLY=()
  line=${COMP_LINE:0:COMP_POINT}
  read -ra typed <<<"$line"
  [[ $line == *[[:space:]] || ${#typed[@]} -le 1 ]] && typed+=("")
  mapfile -t answer < <("${typed[0]/#\~\//$HOME/}" __complete "${typed[@]:1}" 2>/dev/null)
  kind=${answer[0]:-files}
  current=${typed[${#typed[@]} - 1]}
  front=${current%"${current##*[=:]}"}
  for line in "${answer[@]:1}"; do
    line=${line%%$'\t'*}
    COMPREPLY+=("${line#"$front"}")
  done
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]]; then
    compopt -o nospace 2>/dev/null
  elif [[ ${#COMPREPLY[@]} -eq 0 && $kind == files ]]; then
    compopt -o default 2>/dev/null
  fi
  return 0
}
complete -F _hindsight hindsight
)";

constexpr const char* kZsh = R"(#compdef hindsight
# zsh completion of hindsight; written by `hindsight completion zsh`.
_hindsight() {
  local -a answer values ends
  local line word kind
  answer=("${(@f)$("${words[1]/#\~\//$HOME/}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  kind=${answer[1]:-files}
  for line in "${(@)answer[2,-1]}"; do
    word=${line%%$'\t'*}
    [[ $word == *[=:] ]] && { ends+=("$word"); continue }
    if [[ $line == *$'\t'* ]]; then
      values+=("${word//:/\\:}:${line#*$'\t'}")
    else
      values+=("${word//:/\\:}")
    fi
  done
  (( ${#values} )) && _describe -t values hindsight values
  (( ${#ends} )) && compadd -S '' -- "${(@)ends}"
  if (( ${#values} + ${#ends} == 0 )) && [[ $kind == files ]]; then
    compset -P '*='
    _files
  fi
}
if [[ ${funcstack[1]-} == _hindsight ]]; then
  _hindsight "$@"
else
  compdef _hindsight hindsight
fi
)";

constexpr const char* kFish = R"(# fish completion of hindsight; written by `hindsight completion fish`.
function __hindsight_complete
    set -l typed (commandline -opc) (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $typed[1])
    set -l answer ($program __complete $typed[2..-1] 2>/dev/null)
    if test (count $answer) -gt 1
        string join \n -- $answer[2..-1]
    else if test "$answer[1]" != words
        set -l current (commandline -ct)
        set -l front (string match -r '^--[^=]*=' -- $current)
        for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- $current))
            echo "$front$path"
        end
    end
end
complete -c hindsight -f -a '(__hindsight_complete)'
)";

}  // namespace

std::vector<std::string> shell_names() { return names_in(kShells); }

std::string completion_script(const std::string& shell) {
  switch (parse_enum("shell", shell, kShells)) {
    case Shell::bash:
      return kBash;
    case Shell::zsh:
      return kZsh;
    case Shell::fish:
      return kFish;
  }
  return {};
}

}  // namespace hindsight::app
