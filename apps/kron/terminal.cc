#include "terminal.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

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

}  // namespace

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

bool wants_colour(int descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  return ::isatty(descriptor) == 1 && (refused == nullptr || *refused == '\0');
}

std::string shown(const jobs::Problem& problem, bool coloured) {
  std::string text = text_of(problem);
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
