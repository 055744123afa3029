#include <algorithm>
#include <string_view>

#include "completion.h"

namespace kron::completion {
namespace {

// Asked while somebody waits at a prompt, so that krond may be away, and its jobs be many.
constexpr std::string_view kListJobs = " jobs --names --limit 1000 2>/dev/null";

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) (text += text.empty() ? "" : between) += word;
  return text;
}

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string result;
  for (const char c : text) {
    if (c == from) {
      result += to;
    } else {
      result += c;
    }
  }
  return result;
}

// Within $'…' of bash: a word a line, because a word may hold blanks.
std::string bash_words(const std::vector<std::string>& words) { return "$'" + joined(words, "\\n") + "'"; }

std::string bash_values(const Values& values) {
  if (values.are_jobs) return "$(_kron_jobs)";
  return values.words.empty() ? "" : bash_words(values.words);
}

std::vector<std::string> names_of(const std::vector<Flag>& flags) {
  std::vector<std::string> names;
  for (const Flag& flag : flags) names.push_back(flag.name);
  return names;
}

// A branch of `case "$verb $before"`: the patterns hold a blank.
std::string bash_flag_cases(std::string_view verb, const std::vector<Flag>& flags) {
  std::string cases;
  for (const Flag& flag : flags) {
    const std::string words = bash_values(flag.values);
    if (words.empty()) continue;
    cases += "    " + std::string(verb) + "\\ " + flag.name + ") words=" + words + " ;;\n";
  }
  return cases;
}

std::string bash_verb_case(const Verb& verb) {
  std::vector<std::string> words = verb.arguments.words;
  std::ranges::copy(names_of(verb.flags), std::back_inserter(words));
  std::string text = "      " + verb.name + ") words=" + bash_words(words);
  if (verb.arguments.are_jobs) text += "; files=; [[ $word == -* ]] || words=$(_kron_jobs)";
  return text + " ;;\n";
}

std::string bash_script(const Program& program) {
  std::string values = bash_flag_cases("*", program.flags);
  std::string cases;
  std::vector<std::string> first;
  for (const Verb& verb : program.verbs) {
    first.push_back(verb.name);
    values += bash_flag_cases(verb.name, verb.flags);
    cases += bash_verb_case(verb);
  }
  std::ranges::copy(names_of(program.flags), std::back_inserter(first));
  const bool has_verbs = !program.verbs.empty();
  if (!has_verbs) cases = "      *) words=" + bash_words(first) + " ;;\n";
  const std::string& name = program.name;
  return "# bash completion for " + name + ": source it, or install it as share/bash-completion/completions/" + name +
         "\n" + (has_verbs ? "_kron_jobs() { \"${COMP_WORDS[0]}\"" + std::string(kListJobs) + "; }\n" : "") + "_" +
         name +
         "() {\n"
         "  local IFS=$'\\n' files=yes words=\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
         "  COMPREPLY=()\n" +
         (has_verbs ? "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W " + bash_words(first) +
                          " -- \"$word\"))\n    return\n  fi\n"
                    : "") +
         "  case \"$verb $before\" in\n" + values +
         "  esac\n"
         "  if [[ -z $words ]]; then\n"
         "    case $verb in\n" +
         cases +
         "    esac\n"
         "    if [[ $files && $word != -* ]]; then COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
         "  fi\n"
         "  COMPREPLY+=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _" +
         name + " " + name + "\n";
}

// Within single quotes of zsh; brackets, colons and backslashes mean something in its descriptions.
std::string zsh_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return replaced(escaped, '\'', "'\\''");
}

std::string blanks_escaped(const std::vector<std::string>& words) {
  std::vector<std::string> escaped;
  for (const std::string& word : words) escaped.push_back(replaced(word, ' ', "\\ "));
  return joined(escaped, " ");
}

std::string zsh_values(const Values& values, std::string_view otherwise) {
  if (values.are_jobs) return ":job:_kron_jobs";
  if (!values.words.empty()) return ":value:(" + blanks_escaped(values.words) + ")";
  return values.are_files ? ":file:_files" : std::string(otherwise);
}

std::string zsh_arguments(const std::vector<Flag>& flags, const Values& arguments) {
  std::string text = "_arguments";
  for (const Flag& flag : flags) {
    text += " \\\n        '*" + flag.name + "[" + zsh_text(flag.summary) + "]" + zsh_values(flag.values, "") + "'";
  }
  if (arguments.are_jobs) return text + " \\\n        '*:job:_kron_jobs'";
  if (!arguments.words.empty()) text += " \\\n        '1" + zsh_values(arguments, "") + "'";
  return text + " \\\n        '*:file:_files'";
}

std::string zsh_script(const Program& program) {
  const std::string head = "#compdef " + program.name + "\n";
  const std::string tail = "_" + program.name + " \"$@\"\n";
  if (program.verbs.empty()) {
    return head + "_" + program.name + "() {\n      " + zsh_arguments(program.flags, {}) + "\n}\n" + tail;
  }
  std::string names;
  std::string cases;
  for (const Verb& verb : program.verbs) {
    names += "    '" + verb.name + ":" + zsh_text(verb.summary) + "'\n";
    cases += "    " + verb.name + ")\n      " + zsh_arguments(verb.flags, verb.arguments) + " ;;\n";
  }
  return head +
         "_kron_jobs() {\n"
         "  local -a names\n"
         "  names=(${(f)\"$(kron" +
         std::string(kListJobs) +
         ")\"})\n"
         "  compadd -a names\n"
         "}\n"
         "_" +
         program.name +
         "() {\n"
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
         "}\n" +
         tail;
}

// Within single quotes of fish.
std::string fish_text(std::string_view text) { return replaced(replaced(text, '\\', "\\\\"), '\'', "\\'"); }

std::string fish_values(const Values& values) {
  if (values.are_jobs) return " -x -a '(kron" + std::string(kListJobs) + ")'";
  if (!values.words.empty()) return " -x -a '" + fish_text(blanks_escaped(values.words)) + "'";
  return values.are_files ? " -r -F" : "";
}

std::string fish_flags(const std::string& start, const std::vector<Flag>& flags) {
  std::string text;
  for (const Flag& flag : flags) {
    text += start + " -l " + flag.name.substr(2) + " -d '" + fish_text(flag.summary) + "'" + fish_values(flag.values) +
            "\n";
  }
  return text;
}

std::string fish_script(const Program& program) {
  const std::string start = "complete -c " + program.name;
  std::string text = "# fish completion for " + program.name + "\n";
  if (program.verbs.empty()) return text + fish_flags(start, program.flags);
  for (const Verb& verb : program.verbs) {
    const std::string within = start + " -n '__fish_seen_subcommand_from " + verb.name + "'";
    text += start + " -f -n __fish_use_subcommand -a " + verb.name + " -d '" + fish_text(verb.summary) + "'\n";
    if (verb.arguments.are_jobs) {
      text += within + " -f -a '(kron" + std::string(kListJobs) + ")'\n";
    } else if (!verb.arguments.words.empty()) {
      text += within + " -a '" + fish_text(blanks_escaped(verb.arguments.words)) + "'\n";
    }
    text += fish_flags(within, verb.flags);
  }
  return text;
}

}  // namespace

std::string script(const std::string& shell, const Program& program) {
  if (shell == "bash") return bash_script(program);
  return shell == "zsh" ? zsh_script(program) : fish_script(program);
}

}  // namespace kron::completion
