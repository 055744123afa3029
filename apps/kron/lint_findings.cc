#include "lint_findings.h"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <unistd.h>

#include "kron/json/writer.h"
#include "terminal.h"

namespace kron::cli {
namespace {

std::string json_list(const std::vector<jobs::Problem>& problems) {
  JsonWriter json;
  json.begin_list();
  for (const jobs::Problem& problem : problems) {
    json.begin_map().member("file", problem.file);
    json.key("line").integer(static_cast<std::int64_t>(problem.at.line));
    json.key("column").integer(static_cast<std::int64_t>(problem.at.column));
    json.member("severity", name_of(problem.severity))
        .member("field", problem.field)
        .member("message", problem.message)
        .member("hint", problem.cure)
        .member("source", problem.source_line)
        .end_map();
  }
  return json.end_list().take();
}

std::vector<jobs::Problem> findings_shown(const std::vector<jobs::Problem>& problems, bool quiet) {
  std::vector<jobs::Problem> kept;
  std::ranges::copy_if(problems, std::back_inserter(kept), [&](const jobs::Problem& problem) {
    return !quiet || problem.severity == jobs::Severity::error;
  });
  return kept;
}

// In the order a reader goes through the files; what concerns a whole file first.
void sort_by_place(std::vector<jobs::Problem>& problems) {
  std::ranges::stable_sort(problems, [](const jobs::Problem& a, const jobs::Problem& b) {
    return std::tie(a.file, a.at.line, a.at.column) < std::tie(b.file, b.at.line, b.at.column);
  });
}

}  // namespace

void show_findings(std::vector<jobs::Problem> problems, const std::string& read, const FindingsFormat& format) {
  sort_by_place(problems);
  const std::vector<jobs::Problem> wanted = findings_shown(problems, format.quiet);
  if (format.json) {
    std::printf("%s\n", json_list(wanted).c_str());
    return;
  }
  const bool coloured = wants_colour(STDOUT_FILENO);
  for (const jobs::Problem& problem : wanted) std::fputs(shown(problem, coloured).c_str(), stdout);
  const auto count_of = [&](jobs::Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(problems, severity, &jobs::Problem::severity));
  };
  std::printf("%s read: %s, %s\n", read.c_str(), counted(count_of(jobs::Severity::error), "error").c_str(),
              counted(count_of(jobs::Severity::warning), "warning").c_str());
}

}  // namespace kron::cli
