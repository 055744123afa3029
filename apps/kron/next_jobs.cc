#include <cstdio>

#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/local_time.h"
#include "kron/forecast/upcoming.h"
#include "kron/json/decide_request.h"
#include "lines.h"
#include "next_times.h"
#include "verbs.h"

namespace kron::cli {
namespace {

// How far to look: a number of periods, a stretch of time, or both.
struct Reach {
  Instant from;
  std::int64_t count = 0;
  Instant end;  // due before it
};

Result<Reach> reach_of(const NextOptions& options) {
  const Result<Instant> from = time_flag(options.from, "--from");
  if (!from) return fail(from.error());
  Reach reach{*from, options.duration.empty() ? options.count : kMostTimes, kLastInstant};
  if (options.duration.empty()) return reach;
  const Result<Seconds> length = parse_whole_seconds(options.duration);
  if (!length) return about_flag(length.error(), "--for");
  if (*length < reach.end - *from) reach.end = *from + *length;
  return reach;
}

std::string json_line(const jobs::JobDefinition& definition, const Decision& period) {
  const Job& job = definition.job;
  JsonWriter json;
  json.begin_map();
  write_decision(json, job, period);
  json.member("nominalLocal", local_text(job.zone, period.nominal));
  json.member("chosenLocal", period.chosen ? local_text(job.zone, *period.chosen) : "");
  json.member("file", *definition.file).key("line").integer(definition.line);
  return json.end_map().take();
}

struct Column {
  const char* title;
  int width;
};
constexpr std::array kColumns{Column{"PERIOD", 20}, Column{"CHOSEN (UTC)", 20}, Column{"CHOSEN (LOCAL)", 25}};

void print_title(int name_width) {
  for (const Column& column : kColumns) std::printf("%-*s  ", column.width, column.title);
  std::printf("%-*s  %s\n", name_width, "JOB", "WINDOW");
}

void print_row(const Job& job, const Decision& period, int name_width) {
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

// The jobs asked for. One of many that has no times to tell is passed by; one asked for by name is an error.
Result<Agenda> agenda_of(const NextOptions& options, const jobs::LoadedJobs& jobs, Instant from, int& name_width) {
  Agenda agenda;
  const auto add = [&](const jobs::JobDefinition& definition) -> Status {
    Result<Upcoming> upcoming = Upcoming::of(definition.job, from);
    if (!upcoming) return fail(upcoming.error());
    name_width = std::max(name_width, static_cast<int>(definition.job.identity.size()));
    agenda.add(static_cast<std::size_t>(&definition - jobs.definitions.data()), *std::move(upcoming));
    return {};
  };
  if (!options.all) {
    const Result<const jobs::JobDefinition*> found = job_named(jobs, options.job);
    if (!found) return fail(found.error());
    if (const Status added = add(**found); !added) return fail(added.error());
    return agenda;
  }
  for (const jobs::JobDefinition& definition : jobs.definitions) {
    if (const Status added = add(definition); !added) complain("next", added.error());
  }
  return agenda;
}

}  // namespace

int next_jobs(const NextOptions& options) {
  const Result<Reach> reach = reach_of(options);
  if (!reach) return refuse("next", reach.error(), options.json);
  ZoneDatabase zones;
  const ReadJobs read = read_jobs(options.files, zones);
  show_errors(read);
  int name_width = 3;
  Result<Agenda> agenda = agenda_of(options, read.jobs, reach->from, name_width);
  if (!agenda) {
    const int status = refuse("next", agenda.error(), options.json);
    return std::max(status, read.status());
  }
  if (!options.json) print_title(name_width);
  for (std::int64_t i = 0; i < reach->count; ++i) {
    const std::optional<Agenda::Entry> entry = agenda->next();
    if (!entry || entry->period.due() >= reach->end) break;
    const jobs::JobDefinition& definition = read.jobs.definitions[entry->job];
    if (options.json) {
      std::printf("%s\n", json_line(definition, entry->period).c_str());
    } else {
      print_row(definition.job, entry->period, name_width);
    }
  }
  return read.status();
}

}  // namespace kron::cli
