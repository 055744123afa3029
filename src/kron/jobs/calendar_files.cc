#include "kron/jobs/calendar_files.h"

#include "kron/base/text.h"
#include "kron/core/civil.h"
#include "kron/jobs/ics_read.h"

namespace kron::jobs {
namespace {

// Never `-`, which is standard input.
std::string beside(const std::string& job_file, const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::size_t slash = job_file.rfind('/');
  return (slash == std::string::npos ? "./" : job_file.substr(0, slash + 1)) + path;
}

std::int32_t utc_date(Instant t) {
  const CivilTime civil = civil_of(epoch_seconds(t));
  return civil.year * 10000 + civil.month * 100 + civil.day;
}

std::string counted(const CalendarDates::LeftOut& left_out, std::string_view what) {
  const bool is_one = left_out.count == 1;
  return std::to_string(left_out.count) + (is_one ? " event " : " events ") + std::string(what) +
         (is_one ? " is left out: " : " are left out, first ") + left_out.first;
}

}  // namespace

Result<std::vector<DateRange>> CalendarFiles::find(const std::string& path, Position at, Report& report) {
  if (path.empty()) return fail(Code::invalid, "the file of a calendar has no name; give the path of an .ics file");
  const std::string opened = beside(report.file(), path);
  auto known = known_.find(opened);
  if (known == known_.end()) known = known_.emplace(opened, read(opened)).first;
  if (!known->second) return fail(known->second.error().code, opened + ": " + known->second.error().message);
  for (const Warning& warning : known->second->warnings) {
    report.warn(at, "calendars", opened + ": " + warning.message, warning.cure);
  }
  return known->second->dates;
}

std::vector<std::string> CalendarFiles::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, calendar] : known_) paths.push_back(path);
  return paths;
}

Result<CalendarFiles::Calendar> CalendarFiles::read(const std::string& path) const {
  const Result<FileAccess::Facts> facts = files_.look(path);
  if (!facts) return fail(facts.error());
  if (facts->is_directory) return fail(Code::invalid, "is a directory; name the .ics file in it");
  const Result<std::string> text = files_.read(path);
  if (!text) return fail(text.error());
  Result<Calendar> calendar = calendar_in(*text);
  if (calendar && !facts->refusal.empty()) {
    calendar->warnings.push_back(
        {"krond does not read this file: " + facts->refusal, "chmod go-w it, or its directory; krond refuses it"});
  }
  return calendar;
}

Result<CalendarFiles::Calendar> CalendarFiles::calendar_in(const std::string& text) const {
  const CalendarYears years = calendar_years(now_);
  Result<CalendarDates> read = read_ics(text, years);
  if (!read) return fail(read.error());
  Calendar calendar{std::move(read->dates), {}};
  const auto warn = [&](std::string message, std::string cure) {
    calendar.warnings.push_back({std::move(message), std::move(cure)});
  };
  if (read->timed.count > 0) {
    warn(counted(read->timed, "with a time of day"), "only all-day events are dates: give DTSTART;VALUE=DATE");
  }
  if (read->by_rules.count > 0) {
    warn(counted(read->by_rules, "with a rule that is not yearly"),
         "only RRULE:FREQ=YEARLY is understood; write the dates as events of their own");
  }
  if (read->broken.count > 0) {
    warn(counted(read->broken, "without a date that can be read"), "correct it, or remove it from the file");
  }
  if (calendar.dates.empty()) {
    warn("no date from " + std::to_string(years.first) + " to " + std::to_string(years.last),
         "get a newer calendar, and reload");
  } else if (const std::int32_t last = calendar.dates.back().last; last < utc_date(now_ + kCalendarExpires)) {
    warn("no date after " + to_string(DateRange{last, last}), "get a newer calendar before then, and reload");
  }
  return calendar;
}

}  // namespace kron::jobs
