#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <malloc.h>

#include "kron/base/rfc3339.h"
#include "kron/jobs/lint.h"
#include "kron/jobs/load.h"
#include "kron/json/writer.h"

// How long a line of a .kron file takes to be read and linted, and what it occupies afterwards. The limit it compares
// itself with is one copy of the text, line by line. Times are processor times, so a busy machine does not matter.
namespace {

std::string job_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += std::to_string(i % 60) + " " + std::to_string(i % 24) + " * * " + (i % 3 == 0 ? "MON-FRI" : "*") +
            " @tz(Europe/Paris) @win(after,3h) @dist(skewLate,shape=2.5) @seed(stable,salt=backup)"
            " @policy(concurrency=forbid,deadline=30m) " +
            (i % 2 == 0 ? "@avoid(dates=2026-12-24..2026-12-26) " : "") + "name=team/job-" + n +
            " command=\"/usr/bin/backup --full --id " + n + "\" user=backup timeout=2h\n";
    if (i % 1000 == 999) text += "0 0 * * * name=broken-" + n + " comand=misspelt\n";
  }
  return text;
}

std::size_t copy_by_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines.size();
}

std::size_t heap_bytes() {
  const auto heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

}  // namespace

int main() {
  const int count = std::getenv("BRIEF") != nullptr ? 2'000 : 100'000;
  const std::string text = job_lines(count);
  kron::ZoneDatabase zones;
  if (!zones.find("Europe/Paris")) return 2;

  const auto started = std::clock();
  const std::size_t lines = copy_by_lines(text);
  const auto copied = std::clock();
  const std::size_t heap_before = heap_bytes();
  const auto loading = std::clock();
  kron::jobs::LoadedJobs jobs = kron::jobs::load_text("bench.kron", text, kron::jobs::Spelling::kron, zones);
  kron::jobs::refuse_repeated_names(jobs);
  const auto loaded = std::clock();
  const std::size_t heap_after = heap_bytes();
  const auto warnings = kron::jobs::lint(jobs.definitions, {.now = *kron::parse_rfc3339("2026-11-15T00:00:00Z")});
  const auto linted = std::clock();

  const auto per_line = [&](std::clock_t ticks) {
    return static_cast<double>(ticks) * (1e6 / CLOCKS_PER_SEC) / static_cast<double>(lines);
  };
  kron::JsonWriter json;
  json.begin_map().member("bench", "jobs/load");
  json.key("lines").integer(static_cast<std::int64_t>(lines));
  json.key("copy_us_per_line").real(per_line(copied - started));
  json.key("load_us_per_line").real(per_line(loaded - loading));
  json.key("lint_us_per_line").real(per_line(linted - loaded));
  json.key("bytes_per_line").real(static_cast<double>(heap_after - heap_before) / static_cast<double>(lines));
  json.key("text_bytes_per_line").real(static_cast<double>(text.size()) / static_cast<double>(lines));
  json.key("errors_found").integer(static_cast<std::int64_t>(jobs.problems.size()));
  json.key("warnings").integer(static_cast<std::int64_t>(warnings.size()));
  json.end_map();
  std::cout << json.take() << "\n";
  return 0;
}
