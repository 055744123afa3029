#include "terminal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace kron::cli {
namespace {

std::string_view colour_of(jobs::Severity severity) {
  switch (severity) {
    case jobs::Severity::error:
      return "\x1b[1;31m";
    case jobs::Severity::warning:
      return "\x1b[1;33m";
    case jobs::Severity::note:
      break;
  }
  return "\x1b[1;36m";
}

// What our own texts and pictures are made of beyond ASCII.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kPlain{{{"→", "->"},
                                                                                {"…", "..."},
                                                                                {"×", "x"},
                                                                                {"┤", "|"},
                                                                                {"│", "|"},
                                                                                {"└", "+"},
                                                                                {"─", "-"},
                                                                                {"▁", "."},
                                                                                {"▂", "."},
                                                                                {"▃", ":"},
                                                                                {"▄", ":"},
                                                                                {"▅", "|"},
                                                                                {"▆", "|"},
                                                                                {"▇", "#"},
                                                                                {"█", "#"}}};

bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale(value);
    std::ranges::transform(locale, locale.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

std::string plain(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto found = std::ranges::find_if(kPlain, [&](const auto& entry) { return text.starts_with(entry.first); });
    const bool is_known = found != kPlain.end();
    result += is_known ? found->second : text.substr(0, 1);
    text.remove_prefix(is_known ? found->first.size() : 1);
  }
  return result;
}

}  // namespace

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string for_locale(std::string_view text) { return speaks_utf8() ? std::string(text) : plain(text); }

bool wants_colour(int descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  return ::isatty(descriptor) == 1 && (refused == nullptr || *refused == '\0');
}

std::string shown(const jobs::Problem& problem, bool coloured) {
  std::string text = for_locale(text_of(problem));
  if (!coloured) return text;
  const std::string word(name_of(problem.severity));
  const std::size_t at = text.find(": " + word + ": ", problem.file.size());
  if (at == std::string::npos) return text;
  text.insert(at + 2 + word.size(), "\x1b[0m");
  return text.insert(at + 2, colour_of(problem.severity));
}

void show_aside(std::span<const jobs::Problem> problems) {
  const bool coloured = wants_colour(STDERR_FILENO);
  for (const jobs::Problem& problem : problems) std::fputs(shown(problem, coloured).c_str(), stderr);
}

}  // namespace kron::cli
