#include "next_rows.h"

#include <array>
#include <cstdio>

#include "flag_values.h"
#include "kron/base/duration.h"
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
// The clock of the reader, and that of the job, which may be another one.
constexpr std::array kColumnsForPeople{Column{"PERIOD", 20}, Column{"CHOSEN", 31}, Column{"CHOSEN (JOB'S ZONE)", 25}};

const std::array<Column, 3>& columns_of(const ScreenTimes& times) {
  return times.is_for_people() ? kColumnsForPeople : kColumns;
}

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

void print_period_title(int name_width, const ScreenTimes& times) {
  for (const Column& column : columns_of(times)) std::printf("%-*s  ", column.width, column.title);
  std::printf("%-*s  %s\n", name_width, "JOB", "WINDOW");
}

void print_period(const Job& job, const Decision& period, int name_width, const ScreenTimes& times) {
  const auto& columns = columns_of(times);
  const std::string chosen = period.chosen ? times.near(*period.chosen) : "unschedulable";
  const std::string local = period.chosen ? local_text(job.zone, *period.chosen) : "-";
  std::printf("%-*s  %-*s  %-*s  %-*s  ", columns[0].width, times.at(period.nominal).c_str(), columns[1].width,
              chosen.c_str(), columns[2].width, local.c_str(), name_width, job.identity.c_str());
  if (period.window.start == period.window.end) {
    std::printf("-\n");
  } else {
    std::printf("%s to %s\n", times.at(period.window.start).c_str(), times.at(period.window.end).c_str());
  }
}

void write_period(JsonWriter& json, const Job& job, const Decision& period) {
  write_decision(json, job, period);
  json.member("nominalLocal", local_text(job.zone, period.nominal));
  json.member("chosenLocal", period.chosen ? local_text(job.zone, *period.chosen) : "");
}

}  // namespace kron::cli
