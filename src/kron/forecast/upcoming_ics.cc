#include "kron/forecast/upcoming_ics.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/forecast/ics_text.h"
#include "kron/forecast/local_time.h"
#include "kron/forecast/period_walk.h"

namespace kron {
namespace {

constexpr Seconds kDay = std::chrono::days(1);
// How often a job runs is not judged by less: a day may have an hour more or less, and begin anywhere.
constexpr Seconds kWeek = std::chrono::days(7);
constexpr std::size_t kMostNamesInNote = 20;

std::uint64_t days_in(Seconds length) { return static_cast<std::uint64_t>((length + kDay - Seconds(1)) / kDay); }

// On the days on which the job runs at all, as its zone has them. An hourly job does not become frequent by the hour
// that autumn repeats: the part of a period does not count.
bool is_frequent(const Job& job, const TimeSpan& span) {
  constexpr std::uint64_t kTooMany = IcsQuestion::kMostPerDay + 1;
  const std::uint64_t days = days_in(span.until - span.from);
  const std::uint64_t count = job.schedule.count_between(span.from, span.until - Seconds(1), job.zone);
  if (count < kTooMany || count >= kTooMany * days) return count >= kTooMany;
  std::set<std::int64_t> with_periods;
  for_each_nominal(job, span, [&](Instant nominal) {
    with_periods.insert(std::chrono::floor<std::chrono::days>(Seconds(job.zone.to_local(nominal))).count());
    return true;
  });
  return count >= kTooMany * std::min<std::uint64_t>(days, with_periods.size());
}

class EventCollector {
  auto comes_first() const {
    return [this](const IcsEvents::Event& a, const IcsEvents::Event& b) {
      const auto place = [this](const IcsEvents::Event& event) {
        return std::tie(event.chosen, event.nominal, definitions_[event.job].job.identity);
      };
      return place(a) < place(b);
    };
  }

 public:
  EventCollector(std::span<const jobs::JobDefinition> definitions, const IcsQuestion& question)
      : definitions_(definitions),
        question_(question),
        whole_{question.from, question.from + question.length},
        budget_(question.limit) {}

  Result<IcsEvents> run() {
    const std::vector<std::size_t> shown = reserve();
    for (const std::size_t job : shown) {
      if (!budget_.goes_on()) break;
      collect(job);
    }
    if (const Status done = budget_.status(); !done) return fail(done.error());
    std::ranges::sort_heap(found_.events, comes_first());
    return std::move(found_);
  }

 private:
  // The jobs whose periods are looked at. What that costs is taken off before any is.
  std::vector<std::size_t> reserve() {
    const TimeSpan looked_at{whole_.from, whole_.from + std::max(question_.length, kWeek)};
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < definitions_.size() && budget_.goes_on(); ++i) {
      const Job& job = definitions_[i].job;
      if (!can_start(definitions_[i])) continue;
      if (is_frequent(job, looked_at)) {
        found_.frequent.push_back(i);
        continue;
      }
      const TimeSpan span = nominal_span(job.window, whole_);
      if (!budget_.spend(1 + job.schedule.count_between(span.from, span.until - Seconds(1), job.zone))) break;
      shown.push_back(i);
    }
    return shown;
  }

  void collect(std::size_t index) {
    const Job& job = definitions_[index].job;
    const bool is_plain = runs_at_nominal_time(job);
    const std::optional<Instant> again = question_.starts_again ? question_.starts_again(index) : std::nullopt;
    const Instant since = std::max(again.value_or(whole_.from), whole_.from);
    for_each_nominal(job, nominal_span(job.window, whole_), [&](Instant nominal) {
      IcsEvents::Event event{index, nominal, nominal, {nominal, nominal}};
      if (!is_plain) {
        const Decision decision = decide(job, nominal);
        if (!decision.chosen) return budget_.goes_on();
        event.chosen = *decision.chosen;
        event.window = decision.window;
      }
      if (event.chosen >= since && event.chosen < whole_.until) add(event);
      return budget_.goes_on();
    });
  }

  void add(const IcsEvents::Event& event) {
    std::vector<IcsEvents::Event>& events = found_.events;
    events.push_back(event);
    std::ranges::push_heap(events, comes_first());
    if (events.size() <= IcsQuestion::kMostEvents) return;
    std::ranges::pop_heap(events, comes_first());
    events.pop_back();
    found_.is_cut = true;
  }

  std::span<const jobs::JobDefinition> definitions_;
  const IcsQuestion& question_;
  TimeSpan whole_;
  LookBudget budget_;
  IcsEvents found_;
};

std::string description_of(const Job& job, const IcsEvents::Event& event, const std::optional<Seconds>& usual) {
  std::string text = "Nominal time: " + local_text(job.zone, event.nominal);
  if (event.window.start != event.window.end) {
    text += "\nWindow: " + local_text(job.zone, event.window.start) + " to " + local_text(job.zone, event.window.end);
  }
  if (usual) text += "\nUsually takes " + duration_text(*usual);
  return text;
}

void write_event(IcsWriter& ics, const Job& job, const IcsEvents::Event& event, std::optional<Seconds> usual) {
  if (usual) usual = std::max(*usual, Seconds(1));
  ics.line("BEGIN", "VEVENT");
  ics.text("UID", job.identity + "@" + rfc3339(event.nominal));
  // When the event was made is when its period was: nothing of it depends on who asks when.
  ics.line("DTSTAMP", ics_time(event.nominal)).line("DTSTART", ics_time(event.chosen));
  if (usual) ics.line("DURATION", "PT" + std::to_string(usual->count()) + "S");
  ics.text("SUMMARY", job.identity).text("DESCRIPTION", description_of(job, event, usual));
  // Nobody is busy because a job runs.
  ics.line("TRANSP", "TRANSPARENT").line("END", "VEVENT");
}

// What is not in the calendar is said in it.
void write_note(IcsWriter& ics, std::span<const jobs::JobDefinition> definitions, const IcsQuestion& question,
                const IcsEvents& found) {
  const std::size_t left_out = found.frequent.size();
  std::string summary;
  std::string description;
  if (left_out > 0) {
    summary = "Kron: " + std::to_string(left_out) + (left_out == 1 ? " job" : " jobs") + " with more than " +
              std::to_string(IcsQuestion::kMostPerDay) + " periods a day not shown";
    description = "Not shown:";
    for (std::size_t i = 0; i < std::min(left_out, kMostNamesInNote); ++i) {
      description += "\n" + definitions[found.frequent[i]].job.identity;
    }
    if (left_out > kMostNamesInNote) description += "\nand " + std::to_string(left_out - kMostNamesInNote) + " more";
  }
  if (found.is_cut) {
    const std::string cut = "the first " + std::to_string(IcsQuestion::kMostEvents) + " periods shown, until " +
                            rfc3339(found.events.back().chosen);
    summary += (summary.empty() ? "Kron: " : "; ") + cut;
    description += (description.empty() ? "" : "\n") +
                   std::string("There are more periods than a calendar holds: ask for a shorter time or a prefix.");
  }
  if (summary.empty()) return;
  ics.line("BEGIN", "VEVENT").text("UID", "kron-note");
  ics.line("DTSTAMP", ics_date(question.from) + "T000000Z").line("DTSTART;VALUE=DATE", ics_date(question.from));
  ics.text("SUMMARY", summary).text("DESCRIPTION", description);
  ics.line("TRANSP", "TRANSPARENT").line("END", "VEVENT");
}

Status check(const IcsQuestion& question) {
  if (question.from < kFirstInstant || question.from > kLastInstant) {
    return fail(Code::invalid, "schedules are known from 1970 to 2199", "from");
  }
  if (question.length < Seconds(1)) return fail(Code::invalid, "must be at least 1s", "for");
  if (question.length > IcsQuestion::kLongest) {
    return fail(Code::invalid, "must be at most " + duration_text(IcsQuestion::kLongest), "for");
  }
  if (question.length > kLastInstant - question.from + Seconds(1)) {
    return fail(Code::invalid, "leads beyond 2199, where schedules end", "for");
  }
  return {};
}

}  // namespace

Result<IcsEvents> ics_events(std::span<const jobs::JobDefinition> definitions, const IcsQuestion& question) {
  if (const Status checked = check(question); !checked) return fail(checked.error());
  return EventCollector(definitions, question).run();
}

Result<std::string> upcoming_ics(std::span<const jobs::JobDefinition> definitions, const IcsQuestion& question) {
  const Result<IcsEvents> found = ics_events(definitions, question);
  if (!found) return fail(found.error());
  IcsWriter ics;
  ics.line("BEGIN", "VCALENDAR").line("VERSION", "2.0").line("PRODID", "-//Kron//Upcoming//EN");
  ics.line("CALSCALE", "GREGORIAN").line("METHOD", "PUBLISH");
  ics.text("NAME", "Kron").text("X-WR-CALNAME", "Kron");
  ics.line("REFRESH-INTERVAL;VALUE=DURATION", "PT1H").line("X-PUBLISHED-TTL", "PT1H");
  write_note(ics, definitions, question, *found);
  for (const IcsEvents::Event& event : found->events) {
    write_event(ics, definitions[event.job].job, event, question.usual ? question.usual(event.job) : std::nullopt);
  }
  ics.line("END", "VCALENDAR");
  return ics.take();
}

}  // namespace kron
