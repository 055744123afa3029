#include "kron/jobs/words.h"

#include <algorithm>
#include <array>

namespace kron::jobs {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Walks the command once. `see(offset, character, quote)` is called for each character that belongs to a word, with
// the quote it stands in (0, '\'' or '"', and '\\' when a backslash made it literal); `end_word()` after each word.
template <class See, class EndWord>
Status walk(std::string_view command, See&& see, EndWord&& end_word) {
  char quote = 0;
  std::size_t opened = 0;
  bool in_word = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && is_blank(c)) {
      if (in_word) end_word();
      in_word = false;
      continue;
    }
    in_word = true;
    if (quote == '\'' && c != '\'') {
      see(i, c, quote);
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      opened = i;
    } else if (c == '\\') {
      if (i + 1 == command.size()) {
        return fail(Code::invalid, "a backslash at the end of the command quotes nothing", "command", i + 1);
      }
      const char next = command[i + 1];
      if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`') {
        see(i, c, quote);
      } else {
        see(++i, next, '\\');
      }
    } else {
      see(i, c, quote);
    }
  }
  if (quote != 0) {
    return fail(Code::invalid, std::string("the quote ") + quote + " is never closed", "command", opened + 1);
  }
  if (in_word) end_word();
  return {};
}

constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%")) {
    plain[static_cast<unsigned char>(c)] = true;
  }
  return plain;
}();

bool is_plain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

}  // namespace

Result<std::vector<std::string>> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  const Status walked = walk(
      command, [&](std::size_t, char c, char) { word += c; },
      [&] {
        words.push_back(std::move(word));
        word.clear();
      });
  if (!walked) return fail(walked.error());
  if (words.empty() || words.front().empty()) return fail(Code::invalid, "the command is empty", "command", 1);
  return words;
}

bool is_plain_command(std::string_view command) {
  bool any_word = false;
  for (const char c : command) {
    if (is_plain(c)) {
      any_word = true;
    } else if (!is_blank(c)) {
      return false;
    }
  }
  return any_word;
}

std::string quoted_words(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && std::ranges::all_of(word, is_plain)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

std::size_t first_shell_character(std::string_view command) {
  std::size_t found = std::string_view::npos;
  const Status walked = walk(
      command,
      [&](std::size_t at, char c, char quote) {
        const bool special = quote == 0     ? std::string_view("|&;<>()$`*?[~").find(c) != std::string_view::npos
                             : quote == '"' ? c == '$' || c == '`'
                                            : false;
        if (special && found == std::string_view::npos) found = at;
      },
      [] {});
  return walked ? found : std::string_view::npos;
}

}  // namespace kron::jobs
