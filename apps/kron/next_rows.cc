#include "next_rows.h"

#include <array>
#include <cstdio>

#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/local_time.h"
#include "kron/json/decide_request.h"
#include "next_times.h"

namespace kron::cli {
namespace {

struct Column {
  const char* title;
  int width;
};
constexpr std::array kColumns{Column{"PERIOD", 20}, Column{"CHOSEN (UTC)", 20}, Column{"CHOSEN (LOCAL)", 25}};

}  // namespace

Result<Reach> reach_of(const std::string& from_text, std::int64_t count, const std::string& duration) {
  const Result<Instant> from = time_flag(from_text, "--from");
  if (!from) return fail(from.error());
  Reach reach{*from, duration.empty() ? count : kMostTimes, kLastInstant};
  if (duration.empty()) return reach;
  const Result<Seconds> length = parse_whole_seconds(duration);
  if (!length) return about_flag(length.error(), "--for");
  if (*length < reach.end - *from) reach.end = *from + *length;
  return reach;
}

void print_period_title(int name_width) {
  for (const Column& column : kColumns) std::printf("%-*s  ", column.width, column.title);
  std::printf("%-*s  %s\n", name_width, "JOB", "WINDOW");
}

void print_period(const Job& job, const Decision& period, int name_width) {
  const std::string chosen = period.chosen ? rfc3339(*period.chosen) : "unschedulable";
  const std::string local = period.chosen ? local_text(job.zone, *period.chosen) : "-";
  std::printf("%-20s  %-20s  %-25s  %-*s  ", period_id(period.nominal).c_str(), chosen.c_str(), local.c_str(),
              name_width, job.identity.c_str());
  if (period.window.start == period.window.end) {
    std::printf("-\n");
  } else {
    std::printf("%s to %s\n", rfc3339(period.window.start).c_str(), rfc3339(period.window.end).c_str());
  }
}

void write_period(JsonWriter& json, const Job& job, const Decision& period) {
  write_decision(json, job, period);
  json.member("nominalLocal", local_text(job.zone, period.nominal));
  json.member("chosenLocal", period.chosen ? local_text(job.zone, *period.chosen) : "");
}

}  // namespace kron::cli
