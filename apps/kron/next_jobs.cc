#include <algorithm>
#include <cstdio>
#include <span>

#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/forecast/upcoming.h"
#include "kron/forecast/upcoming_ics.h"
#include "krond_jobs.h"
#include "lines.h"
#include "next_rows.h"
#include "verbs.h"

namespace kron::cli {
namespace {

std::string json_line(const jobs::JobDefinition& definition, const Decision& period) {
  const Job& job = definition.job;
  JsonWriter json;
  json.begin_map();
  write_period(json, job, period);
  json.member("file", *definition.file).key("line").integer(definition.line);
  return json.end_map().take();
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

Result<ToldJobs> jobs_of(const NextOptions& options, Instant from, ZoneDatabase& zones) {
  if (!options.all || !options.files.paths.empty()) {
    auto read = jobs_asked_for(as_read_at(options.files, from), options.krond, options.job, zones);
    if (!read) return fail(read.error());
    return ToldJobs{.read = *std::move(read)};
  }
  auto told = jobs_of_krond(options.krond, zones);
  if (!told) return fail(told.error());
  const auto say = [](std::size_t count, const char* why) {
    if (count > 0) std::fprintf(stderr, "kron next: %zu job%s %s\n", count, count == 1 ? "" : "s", why);
  };
  say(told->held, "left out: paused or suspended");
  say(told->not_told, "left out, with definitions that no job file could have");
  return told;
}

// The calendar of these jobs, or of the one that was asked for.
int print_calendar(const NextOptions& options, const ToldJobs& told) {
  const std::vector<jobs::JobDefinition>& all = told.read.jobs.definitions;
  std::span<const jobs::JobDefinition> asked = all;
  if (!options.all) {
    const auto found = job_named(told.read.jobs, options.job);
    if (!found) return std::max(refuse("next", found.error(), false), told.read.status());
    asked = {*found, 1};
  }
  const Result<Instant> from = time_flag(options.from, "--from");
  if (!from) return refuse("next", from.error(), false);
  IcsQuestion question{.from = *from};
  if (!options.duration.empty()) {
    const Result<Seconds> length = parse_whole_seconds(options.duration);
    if (!length) return refuse("next", about_flag(length.error(), "--for").value(), false);
    question.length = *length;
  }
  question.usual = [&](std::size_t job) -> std::optional<Seconds> {
    const auto known = told.usual.find(asked[job].job.identity);
    return known == told.usual.end() ? std::nullopt : std::optional(known->second);
  };
  const Result<std::string> calendar = upcoming_ics(asked, question);
  if (!calendar) return refuse("next", about_flag(calendar.error(), "--" + calendar.error().field).value(), false);
  std::fwrite(calendar->data(), 1, calendar->size(), stdout);
  return told.read.status();
}

}  // namespace

int next_jobs(const NextOptions& options) {
  const Result<Reach> reach = reach_of(options.from, options.count, options.duration);
  if (!reach) return refuse("next", reach.error(), options.json);
  ZoneDatabase zones;
  const Result<ToldJobs> found = jobs_of(options, reach->from, zones);
  if (!found) return refuse("next", found.error(), options.json);
  const ReadJobs& read = found->read;
  show_errors(read);
  if (options.ics) return print_calendar(options, *found);
  int name_width = 3;
  Result<Agenda> agenda = agenda_of(options, read.jobs, reach->from, name_width);
  if (!agenda) {
    const int status = refuse("next", agenda.error(), options.json);
    return std::max(status, read.status());
  }
  const ScreenTimes times = screen_times(options.times);
  if (!options.json) print_period_title(name_width, times);
  for (std::int64_t i = 0; i < reach->count; ++i) {
    const std::optional<Agenda::Entry> entry = agenda->next();
    if (!entry || entry->period.due() >= reach->end) break;
    const jobs::JobDefinition& definition = read.jobs.definitions[entry->job];
    if (options.json) {
      std::printf("%s\n", json_line(definition, entry->period).c_str());
    } else {
      print_period(definition.job, entry->period, name_width, times);
    }
  }
  return read.status();
}

}  // namespace kron::cli
