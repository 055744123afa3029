#include "kron/json/job_fields.h"

#include <charconv>
#include <map>

#include "kron/base/duration.h"
#include "kron/base/text.h"

namespace kron {
namespace {

constexpr std::array<std::string_view, 5> kPolicyKeys{"concurrency", "deadline", "suspend", "pauseAfter",
                                                      "catchUpSpread"};

using Calendars = std::map<std::string, std::vector<DateRange>>;

void read_schedule(Job& job, Fields& fields) {
  if (const auto text = fields.text("schedule"))
    fields.take(job.schedule, "schedule", parse_schedule(*text, job.identity));
  if (const auto text = fields.text("dst"))
    fields.take(job.schedule.dst, "dst", parse_dst_rule(*text, job.schedule.dst));
}

void read_window(Job& job, Fields& fields) {
  const Node* window = fields.find("window");
  if (window == nullptr || window->as<Node::Map>() == nullptr) {
    if (const auto text = fields.text("window")) fields.take(job.window.duration, "window", parse_duration(*text));
    return;
  }
  Fields parts = *fields.map("window");
  parts.reject_unknown(std::array<std::string_view, 2>{"mode", "duration"});
  if (const auto text = parts.text("mode")) parts.take(job.window.mode, "mode", parse_window_mode(*text));
  if (const auto text = parts.text("duration")) parts.take(job.window.duration, "duration", parse_duration(*text));
}

// The error of make_distribution names the parameter, which is a key of `params`.
void read_parameters(Job& job, Fields& parts, std::string_view name) {
  std::map<std::string, std::string> parameters;
  std::optional<Fields> params = parts.map("params");
  if (params) {
    for (const Node::Member& member : *params->node().as<Node::Map>()) {
      if (auto text = params->scalar(member.key)) parameters.emplace(member.key, *std::move(text));
    }
  }
  Result<Distribution> distribution = make_distribution(name, parameters);
  if (distribution) {
    job.distribution = *distribution;
  } else if (params && parameters.contains(distribution.error().field)) {
    params->report(distribution.error().field, distribution.error().message, distribution.error().column);
  } else {
    parts.report("name", distribution.error().message, distribution.error().column);
  }
}

void read_distribution(Job& job, Fields& fields) {
  const Node* distribution = fields.find("distribution");
  if (distribution == nullptr || distribution->as<Node::Map>() == nullptr) {
    if (const auto name = fields.text("distribution")) {
      fields.take(job.distribution, "distribution", make_distribution(*name, {}));
    }
    return;
  }
  Fields parts = *fields.map("distribution");
  parts.reject_unknown(std::array<std::string_view, 2>{"name", "params"});
  read_parameters(job, parts, parts.text("name").value_or(""));
}

void read_seed(Job& job, Fields& fields) {
  std::optional<Fields> seed = fields.map("seed");
  if (!seed) return;
  seed->reject_unknown(std::array<std::string_view, 2>{"strategy", "salt"});
  if (const auto text = seed->text("strategy")) seed->take(job.seed_strategy, "strategy", parse_seed_strategy(*text));
  if (const auto text = seed->text("salt")) job.salt = *text;
}

bool is_calendar_name(std::string_view name) {
  constexpr std::size_t kLongestName = 200;
  return !name.empty() && name.size() <= kLongestName && name == trimmed(name) &&
         name.find(',') == std::string_view::npos && is_valid_utf8(name);
}

// `{file: fr.ics}`.
void read_calendar_file(std::vector<DateRange>& dates, Fields calendar, const CalendarReader& read) {
  calendar.reject_unknown(std::array<std::string_view, 1>{"file"});
  const auto path = calendar.text("file");
  if (!path) {
    if (!calendar.has("file")) calendar.report("file", "is missing; give the path of an .ics file, or a list of dates");
  } else if (!read) {
    calendar.report("file", "only .kron and YAML job files on disk can name a calendar's file; list its dates here");
  } else {
    calendar.take(dates, "file", read(std::string(*path), *calendar.find("file")));
  }
}

Calendars read_calendars(Fields& fields, const CalendarReader& read_file) {
  Calendars calendars;
  std::optional<Fields> lists = fields.map("calendars");
  if (!lists) return calendars;
  for (const Node::Member& member : *lists->node().as<Node::Map>()) {
    if (!is_calendar_name(member.key)) {
      fields.report("calendars", "the calendar name " + kron::quoted(member.key) +
                                     " is empty, too long, or has a comma or blanks around it");
      continue;
    }
    std::vector<DateRange>& dates = calendars[member.key];
    if (member.value.as<Node::Map>() != nullptr) {
      read_calendar_file(dates, *lists->map(member.key), read_file);
      continue;
    }
    for (const std::string& text : lists->scalars(member.key)) {
      DateRange range;
      lists->take(range, member.key, parse_date_range(text));
      if (range.first != 0) dates.push_back(range);
    }
  }
  return calendars;
}

void read_clauses(ConstraintSet& set, Fields& fields, std::string_view side, const Calendars& calendars) {
  std::optional<Fields> clauses = fields.map(side);
  if (!clauses) return;
  for (const Node::Member& member : *clauses->node().as<Node::Map>()) {
    for (const std::string& value : clauses->scalars(member.key)) {
      const Status added = add_clause(set, member.key, value, calendars);
      if (added) continue;
      clauses->report(std::string_view(member.key).substr(0, 64), added.error().message, added.error().column);
      break;
    }
  }
}

// A number, which job lines spell as text. How large it may be is make_job's to say.
Result<std::uint32_t> parse_failures(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return fail(Code::invalid,
              kron::quoted(text) + " is not a whole number; write how many failures in a row pause it, such as 3",
              "pauseAfter", 1);
}

void read_policy(Job& job, Fields& fields) {
  std::optional<Fields> policy = fields.map("policy");
  if (!policy) return;
  policy->reject_unknown(kPolicyKeys);
  if (const auto text = policy->text("concurrency")) {
    policy->take(job.policy.concurrency, "concurrency", parse_concurrency(*text));
  }
  if (const auto text = policy->text("deadline"))
    policy->take(job.policy.deadline, "deadline", parse_whole_seconds(*text));
  if (const auto suspend = policy->boolean("suspend")) job.policy.suspend = *suspend;
  if (const auto text = policy->scalar("pauseAfter")) {
    policy->take(job.policy.pause_after, "pauseAfter", parse_failures(*text));
  }
  if (const auto text = policy->text("catchUpSpread")) {
    Seconds spread{0};
    policy->take(spread, "catchUpSpread", parse_whole_seconds(*text));
    job.policy.catch_up_spread = spread;
  }
}

}  // namespace

void read_job(Job& draft, Fields fields, ZoneDatabase& zones, const CalendarReader& calendar_file) {
  read_schedule(draft, fields);
  if (const auto name = fields.text("timezone"); name && !name->empty()) {
    fields.take(draft.zone, "timezone", zones.find(*name));
  }
  read_window(draft, fields);
  read_distribution(draft, fields);
  read_seed(draft, fields);
  const Calendars calendars = read_calendars(fields, calendar_file);
  read_clauses(draft.constraints.only, fields, "only", calendars);
  read_clauses(draft.constraints.avoid, fields, "avoid", calendars);
  read_policy(draft, fields);
}

}  // namespace kron
