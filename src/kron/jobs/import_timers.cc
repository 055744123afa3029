#include "kron/jobs/import_timers.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/make_job.h"
#include "kron/jobs/calendar_event.h"
#include "kron/jobs/dst_effects.h"
#include "kron/jobs/shown_units.h"
#include "kron/jobs/timer_service.h"

namespace kron::jobs {
namespace {

constexpr std::string_view kTimerSuffix = ".timer";
constexpr Nanoseconds kUsualAccuracy = std::chrono::minutes(1);
constexpr int kIntervalsLookedAt = 64;

// A line of a timer that starts its service.
struct TimerTrigger {
  std::string schedule;
  std::string zone;  // empty: the host's
  Position at;
  bool is_calendar = false;
};

std::string name_of_timer(std::string_view id) {
  std::string name = lower(id.substr(0, id.size() - kTimerSuffix.size()));
  std::ranges::replace_if(
      name,
      [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'); },
      '-');
  const std::size_t first = name.find_first_not_of("._-");
  if (first == std::string::npos) return "timer";
  return name.substr(first, name.find_last_not_of("._-") - first + 1);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

class TimerImporter {
 public:
  TimerImporter(const std::vector<ShownUnit>& units, const TimerOptions& options, ModelContext& context,
                Report& report);

  void take(const ShownUnit& timer);
  std::vector<JobDefinition> definitions;

 private:
  std::vector<TimerTrigger> triggers_of(const ShownUnit& timer);
  void take_calendar(const ShownProperty& line, std::vector<TimerTrigger>& triggers);
  void take_monotonic(const ShownProperty& line, std::vector<TimerTrigger>& triggers);
  void name_what_is_lost(const ShownUnit& timer);
  void add_job(const ShownUnit& timer, const TimerTrigger& trigger, const ShownUnit& service, const ServiceKeys& keys);
  std::string unique_name(const ShownUnit& timer);
  Node window_of_timer(const ShownUnit& timer);
  [[nodiscard]] Seconds longest_interval(const Job& job) const;
  void look_at_gaps_of(const JobDefinition& definition, Position at);

  const TimerOptions& options_;
  ModelContext& context_;
  Report& report_;
  std::map<std::string, const ShownUnit*, std::less<>> services_;
  std::set<std::string> taken_;
};

TimerImporter::TimerImporter(const std::vector<ShownUnit>& units, const TimerOptions& options, ModelContext& context,
                             Report& report)
    : options_(options), context_(context), report_(report) {
  for (const ShownUnit& unit : units) services_.emplace(unit.text("Id"), &unit);
}

void TimerImporter::take(const ShownUnit& timer) {
  const std::string_view id = timer.text("Id");
  const Position at = timer.find("Id")->at;
  if (timer.text("ActiveState") != "active" && !options_.all) return;
  const auto service = services_.find(timer.text("Unit"));
  if (service == services_.end()) {
    return report_.error(at, "Unit",
                         std::string(id) + " starts " + quoted(timer.text("Unit"), 200) + ", which is not in this text",
                         "add what systemctl show says of it");
  }
  if (!service->first.ends_with(".service")) {
    return report_.error(at, "Unit",
                         std::string(id) + " starts " + quoted(service->first, 200) + ", which is no service");
  }
  const std::vector<TimerTrigger> triggers = triggers_of(timer);
  name_what_is_lost(timer);
  if (triggers.empty()) return;
  const ServiceKeys keys = keys_of_service(*service->second, options_.keep);
  if (!keys.problem.empty()) {
    return report_.error(at, "ExecStart", std::string(id) + ": " + keys.problem,
                         "leave --no-keep-unit out: the job then starts the unit");
  }
  if (keys.is_kept && !keys.lost.empty()) {
    report_.note(
        at, "ExecStart",
        std::string(id) + " becomes a job that starts " + service->first + ", which keeps: " + joined(keys.lost),
        "--no-keep-unit runs the command itself, without these");
  } else if (!keys.is_kept && !keys.lost.empty()) {
    report_.warn(at, "ExecStart", service->first + ": not carried over: " + joined(keys.lost),
                 "leave --no-keep-unit out: the job then starts the unit");
  }
  for (const TimerTrigger& trigger : triggers) add_job(timer, trigger, *service->second, keys);
}

std::vector<TimerTrigger> TimerImporter::triggers_of(const ShownUnit& timer) {
  std::vector<TimerTrigger> triggers;
  for (const ShownProperty* line : timer.all("TimersCalendar")) take_calendar(*line, triggers);
  for (const ShownProperty* line : timer.all("TimersMonotonic")) take_monotonic(*line, triggers);
  for (const char* name : {"OnClockChange", "OnTimezoneChange"}) {
    if (timer.text(name) == "yes") {
      report_.error(timer.find(name)->at, name, std::string(name) + "= has no counterpart: a job is not started by it");
    }
  }
  return triggers;
}

void TimerImporter::take_calendar(const ShownProperty& line, std::vector<TimerTrigger>& triggers) {
  const auto shown = shown_trigger(line.value);
  const std::string text = shown ? shown->second : line.value;
  const Result<CalendarSchedule> schedule = schedule_of_calendar(text);
  if (!schedule) {
    return report_.error(line.at, "OnCalendar", "OnCalendar=" + quoted(text, 100) + ": " + schedule.error().message,
                         "nothing was written for this line");
  }
  triggers.push_back({schedule->cron, schedule->zone, line.at, true});
}

void TimerImporter::take_monotonic(const ShownProperty& line, std::vector<TimerTrigger>& triggers) {
  const auto shown = shown_trigger(line.value);
  const auto span = shown ? shown_span(shown->second) : std::nullopt;
  if (!span) return report_.error(line.at, "OnBootSec", "this line is not understood", "nothing was written for it");
  const std::string& kind = shown->first;
  if (kind == "OnBootUSec" || kind == "OnStartupUSec") {
    report_.warn(line.at, kind,
                 "@reboot runs when krond starts for the first time after a boot; the " + shown->second +
                     " after it are not carried over",
                 "let the command wait, where that matters");
    return triggers.push_back({"@reboot", "", line.at, false});
  }
  if (kind != "OnUnitActiveUSec" && kind != "OnUnitInactiveUSec") {
    return report_.error(line.at, kind, "a job does not know when its timer was started",
                         "nothing was written for this line; give it a schedule");
  }
  const Seconds every = std::chrono::ceil<Seconds>(*span);
  if (every.count() < 1) return report_.error(line.at, kind, "a job runs at most once a second");
  report_.warn(line.at, kind,
               "@every counts from 1970-01-01T00:00:00Z, a timer from " +
                   std::string(kind == "OnUnitActiveUSec" ? "the last start" : "the last end") +
                   ": the distance is the same, the times are others");
  triggers.push_back({"@every " + duration_text(every), "", line.at, false});
}

void TimerImporter::name_what_is_lost(const ShownUnit& timer) {
  if (timer.text("WakeSystem") == "yes") {
    report_.warn(timer.find("WakeSystem")->at, "WakeSystem", "krond does not wake a machine that is suspended");
  }
  const auto accuracy = shown_span(timer.text("AccuracyUSec"));
  if (accuracy && *accuracy > kUsualAccuracy) {
    report_.note(timer.find("AccuracyUSec")->at, "AccuracySec",
                 "AccuracySec= is not carried over: the job starts at its second, and wakes nobody else then");
  }
}

std::string TimerImporter::unique_name(const ShownUnit& timer) {
  const std::string name = name_of_timer(timer.text("Id"));
  std::string unique = name;
  for (int count = 2; !taken_.insert(unique).second; ++count) unique = name + "-" + std::to_string(count);
  return unique;
}

Node TimerImporter::window_of_timer(const ShownUnit& timer) {
  const ShownProperty* line = timer.find("RandomizedDelayUSec");
  const auto delay = line == nullptr ? std::nullopt : shown_span(line->value);
  if (!delay || delay->count() == 0) return Node();
  report_.note(line->at, "RandomizedDelaySec", "RandomizedDelaySec= is read as a window of " + duration_text(*delay),
               timer.text("FixedRandomDelay") == "yes"
                   ? "as with FixedRandomDelay=, the delay of a job stays the same on this host; it does on others too"
                   : "the delay is no longer random: a hash chooses it for each period, and it can be seen beforehand");
  Node::Map window;
  window.push_back({"mode", {}, Node(std::string("after"))});
  window.push_back({"duration", {}, Node(duration_text(*delay))});
  return Node(std::move(window), line->at);
}

// Persistent= starts once what was missed, however late: a deadline of the longest distance between two periods does.
Seconds TimerImporter::longest_interval(const Job& job) const {
  Seconds longest{0};
  auto at = job.schedule.next_after(options_.now.value_or(kFirstInstant), job.zone);
  for (int i = 0; i < kIntervalsLookedAt && at; ++i) {
    const auto next = job.schedule.next_after(*at, job.zone);
    if (next) longest = std::max(longest, std::chrono::duration_cast<Seconds>(*next - *at));
    at = next;
  }
  // One that comes no more may start whenever the machine is back.
  return longest.count() == 0 ? std::chrono::hours(24 * 365) : std::min(longest, kLongestDuration);
}

void TimerImporter::add_job(const ShownUnit& timer, const TimerTrigger& trigger, const ShownUnit& service,
                            const ServiceKeys& keys) {
  const std::size_t errors_before = report_.error_count();
  Node::Map map;
  const auto put = [&](std::string_view key, Node value) {
    map.push_back({std::string(key), trigger.at, std::move(value)});
  };
  put("name", Node(unique_name(timer), trigger.at));
  put("schedule", Node(trigger.schedule, trigger.at));
  if (trigger.is_calendar && trigger.zone.empty() && !context_.no_zone.problem.empty()) {
    return report_.error({}, "timezone", context_.no_zone.problem, context_.no_zone.cure);
  }
  if (trigger.is_calendar)
    put("timezone", Node(trigger.zone.empty() ? context_.zone.name() : trigger.zone, trigger.at));
  if (trigger.is_calendar) {
    if (Node window = window_of_timer(timer); !window.is_null()) put("window", std::move(window));
  }
  if (timer.text("ActiveState") != "active") {
    Node::Map policy;
    policy.push_back({"suspend", trigger.at, Node(true, trigger.at)});
    put("policy", Node(std::move(policy), trigger.at));
  }
  for (const Node::Member& key : keys.keys) map.push_back({key.key, trigger.at, Node(key.value.value(), trigger.at)});
  if (const std::string_view description = service.text("Description"); !description.empty()) {
    put("description", Node(std::string(description), trigger.at));
  }
  auto definition = read_definition(Node(std::move(map), trigger.at), context_, report_, errors_before);
  if (!definition) return;
  if (trigger.is_calendar && timer.text("Persistent") == "yes") {
    Job draft = definition->job;
    draft.policy.deadline = longest_interval(draft);
    Result<Job> job = make_job(std::move(draft));
    if (!job) return report_.error(trigger.at, "Persistent", "Persistent=: " + job.error().message);
    definition->job = *std::move(job);
  }
  if (trigger.is_calendar) look_at_gaps_of(*definition, trigger.at);
  definitions.push_back(*std::move(definition));
}

void TimerImporter::look_at_gaps_of(const JobDefinition& definition, Position at) {
  constexpr auto kLookAhead = std::chrono::duration_cast<Seconds>(std::chrono::years(5));
  const Job& job = definition.job;
  if (job.zone.segments().size() == 1) return;
  const Instant until = options_.now ? std::min(*options_.now + kLookAhead, kLastInstant) : kLastInstant;
  for (const DstEffect& effect : dst_effects(job, options_.now.value_or(kFirstInstant), until)) {
    if (effect.kind != DstEffect::Kind::moved) continue;
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d", effect.local.year, effect.local.month,
                  effect.local.day, effect.local.hour, effect.local.minute);
    return report_.note(at, "timezone",
                        "the clock in " + job.zone.name() + " skips " + text.data() +
                            ": systemd leaves that run out, the job runs after the gap",
                        "add dst: gap=skip to keep it as it was");
  }
}

}  // namespace

std::vector<JobDefinition> import_timers(std::string_view shown, const TimerOptions& options, ModelContext& context,
                                         Report& report) {
  const std::vector<ShownUnit> units = shown_units(shown);
  TimerImporter importer(units, options, context, report);
  std::size_t timers = 0;
  for (const ShownUnit& unit : units) {
    if (!unit.text("Id").ends_with(kTimerSuffix)) continue;
    ++timers;
    importer.take(unit);
  }
  if (timers == 0) {
    report.error({}, "", "there is no timer in it",
                 "give what `systemctl show '*.timer' '*.service'` prints on the machine with the timers");
  }
  return std::move(importer.definitions);
}

}  // namespace kron::jobs
