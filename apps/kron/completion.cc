#include <algorithm>

#include "verbs.h"

namespace kron::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Within single quotes of a shell; brackets and colons would end a description of zsh.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '[' || c == ']' || c == ':') continue;
    result += c;
  }
  return result;
}

std::string verb_names(const std::vector<CompletedVerb>& verbs) {
  std::vector<std::string> names;
  for (const CompletedVerb& verb : verbs) names.push_back(verb.name);
  return joined(names);
}

std::string bash_script(const std::vector<CompletedVerb>& verbs) {
  std::string cases;
  std::string values;
  for (const CompletedVerb& verb : verbs) {
    std::vector<std::string> words = verb.words;
    for (const CompletedFlag& flag : verb.flags) {
      words.push_back(flag.name);
      if (flag.values.empty()) continue;
      values += "    " + verb.name + " " + flag.name + ") words='" + joined(flag.values) + "' ;;\n";
    }
    cases += "    " + verb.name + ") words='" + joined(words) + "' ;;\n";
  }
  // A flag and its verb are matched as two words, so the patterns above need a backslash before the blank.
  std::string escaped;
  for (std::size_t at = 0; at < values.size();) {
    const std::size_t end = values.find('\n', at);
    std::string line = values.substr(at, end - at);
    line.replace(line.find(" --"), 1, "\\ ");
    escaped += line + "\n";
    at = end + 1;
  }
  return "# bash completion for kron: source it, or install it as share/bash-completion/completions/kron\n"
         "_kron() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words=\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         verb_names(verbs) +
         " --help --version' -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"$verb $before\" in\n" +
         escaped +
         "  esac\n"
         "  if [[ -z $words ]]; then\n"
         "    case $verb in\n" +
         cases +
         "    esac\n"
         "    if [[ $word != -* ]]; then COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
         "  fi\n"
         "  COMPREPLY+=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _kron kron\n";
}

std::string zsh_script(const std::vector<CompletedVerb>& verbs) {
  std::string names;
  std::string cases;
  for (const CompletedVerb& verb : verbs) {
    names += "    '" + verb.name + ":" + plain(verb.summary) + "'\n";
    cases += "    " + verb.name + ")\n      _arguments";
    for (const CompletedFlag& flag : verb.flags) {
      cases += " \\\n        '*" + flag.name + "[" + plain(flag.summary) + "]";
      if (!flag.values.empty()) {
        cases += ":value:(" + joined(flag.values) + ")";
      } else if (flag.takes_file) {
        cases += ":file:_files";
      }
      cases += "'";
    }
    cases += verb.words.empty() ? " \\\n        '*:file:_files' ;;\n"
                                : " \\\n        '1:word:(" + joined(verb.words) + ")' '*:file:_files' ;;\n";
  }
  return "#compdef kron\n"
         "_kron() {\n"
         "  local -a verbs=(\n" +
         names +
         "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe 'command' verbs\n"
         "    return\n"
         "  fi\n"
         "  local verb=$words[2]\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $verb in\n" +
         cases +
         "  esac\n"
         "}\n"
         "_kron \"$@\"\n";
}

std::string fish_script(const std::vector<CompletedVerb>& verbs) {
  std::string text = "# fish completion for kron\n";
  for (const CompletedVerb& verb : verbs) {
    const std::string within = "-n '__fish_seen_subcommand_from " + verb.name + "'";
    text += "complete -c kron -f -n __fish_use_subcommand -a " + verb.name + " -d '" + plain(verb.summary) + "'\n";
    if (!verb.words.empty()) text += "complete -c kron " + within + " -a '" + joined(verb.words) + "'\n";
    for (const CompletedFlag& flag : verb.flags) {
      text += "complete -c kron " + within + " -l " + flag.name.substr(2) + " -d '" + plain(flag.summary) + "'";
      if (!flag.values.empty()) text += " -x -a '" + joined(flag.values) + "'";
      text += flag.takes_file ? " -r -F\n" : "\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<CompletedVerb>& verbs) {
  if (shell == "bash") return bash_script(verbs);
  return shell == "zsh" ? zsh_script(verbs) : fish_script(verbs);
}

}  // namespace kron::cli
