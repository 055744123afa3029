#include "editor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "kron/base/text.h"

extern char** environ;

namespace kron::cli {
namespace {

// Those that take +LINE before the file.
constexpr std::array<std::string_view, 18> kTakeALine{
    "vi",     "vim",  "nvim",  "vim.basic", "vim.tiny",    "ex",
    "nano",   "pico", "emacs", "jove",      "emacsclient", "sensible-editor",
    "editor", "joe",  "jed",   "mg",        "kak",         "micro"};

bool takes_a_line(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return std::ranges::find(kTakeALine, name) != kTakeALine.end();
}

// Ctrl-C in the editor is the editor's.
class SignalsIgnored {
 public:
  SignalsIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~SignalsIgnored() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }
  SignalsIgnored(const SignalsIgnored&) = delete;
  SignalsIgnored& operator=(const SignalsIgnored&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
};

// The errno of the start, or the status with which it ended.
struct Ended {
  int error = 0;
  int status = 0;
};

Ended run_editor(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGINT);
  sigaddset(&usual, SIGQUIT);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const SignalsIgnored ignored;
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv.front(), nullptr, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return {.error = error};
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return {.status = status};
}

}  // namespace

Result<std::vector<std::string>> editor_words(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool is_blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && is_blank) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      word += c;
    }
  }
  if (quote != '\0') return fail(Code::invalid, "the editor " + quoted(command, 200) + " has a quote without its end");
  if (in_word) words.push_back(word);
  if (words.empty() || words.front().empty()) return fail(Code::invalid, "the editor's name is empty");
  return words;
}

std::vector<std::string> editor_command(std::vector<std::string> editor, const std::string& file, std::size_t line) {
  if (line > 0 && takes_a_line(editor.front())) editor.push_back("+" + std::to_string(line));
  editor.push_back(file.starts_with('/') ? file : "./" + file);
  return editor;
}

std::vector<std::string> editors() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return {value};
  }
  return {"sensible-editor", "editor", "vi"};
}

Status edit_file(const std::vector<std::string>& editors, const std::string& file, std::size_t line) {
  for (const std::string& editor : editors) {
    auto words = editor_words(editor);
    if (!words) return fail(words.error());
    const Ended ended = run_editor(editor_command(*std::move(words), file, line));
    if (ended.error == ENOENT) continue;
    if (ended.error != 0) {
      return fail(Code::io, "cannot start the editor " + quoted(editor, 200) + ": " + std::strerror(ended.error));
    }
    if (ended.status == 0) return {};
    return fail(Code::invalid, "the editor " + quoted(editor, 200) + " ended with an error; nothing is reloaded");
  }
  return fail(Code::not_found,
              "there is no editor " + quoted(editors.front(), 200) + "; set EDITOR to one that is there");
}

}  // namespace kron::cli
