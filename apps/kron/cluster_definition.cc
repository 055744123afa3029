#include "cluster_definition.h"

#include <algorithm>
#include <array>

#include "kron/base/text.h"
#include "kron/core/decision.h"
#include "kron/jobs/cronken.h"
#include "kron/jobs/model.h"
#include "kron/jobs/words.h"
#include "kron/json/writer.h"

namespace kron::cli {
namespace {

constexpr std::array<std::string_view, 7> kWeekdayWords{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr std::array<std::string_view, 5> kPositionWords{"1st", "2nd", "3rd", "4th", "5th"};
constexpr std::uint32_t kAllDates = 0xFFFF'FFFE;
// Keys of the model that cronken's own part of a definition says.
constexpr std::array<std::string_view, 5> kSaidByCronken{"name", "schedule", "timezone", "command", "shell"};

bool has_bit(std::uint64_t bits, int value) { return ((bits >> static_cast<unsigned>(value)) & 1U) != 0; }

void add_item(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

// `*`, `*/5`, or `1-5,8`.
std::string numbers_text(std::uint64_t bits, int first, int last) {
  for (int step = 1; step <= last - first; ++step) {
    bool fits = true;
    for (int value = first; value <= last && fits; ++value)
      fits = has_bit(bits, value) == ((value - first) % step == 0);
    if (fits) return step == 1 ? "*" : "*/" + std::to_string(step);
  }
  std::string text;
  for (int value = first; value <= last; ++value) {
    if (!has_bit(bits, value)) continue;
    int end = value;
    while (end < last && has_bit(bits, end + 1)) ++end;
    add_item(text, std::to_string(value) + (end == value ? "" : "-" + std::to_string(end)));
    value = end;
  }
  return text;
}

std::string years_text(const YearSet& years) {
  std::string text;
  const auto has_year = [&](int year) {
    const auto place = static_cast<std::size_t>(year - kFirstYear);
    return year <= kLastYear && ((years[place / 64] >> (place % 64)) & 1U) != 0;
  };
  for (int year = kFirstYear; year <= kLastYear; ++year) {
    if (!has_year(year)) continue;
    int end = year;
    while (has_year(end + 1)) ++end;
    add_item(text, std::to_string(year) + (end == year ? "" : "-" + std::to_string(end)));
    year = end;
  }
  return text;
}

// `2nd tue`, `last fri`.
std::string positions_text(const Schedule& schedule) {
  std::string text;
  for (std::size_t day = 0; day < kWeekdayWords.size(); ++day) {
    for (std::size_t k = 0; k < kPositionWords.size(); ++k) {
      if (has_bit(schedule.nth_weekdays, static_cast<int>(7 * k + day))) {
        add_item(text, std::string(kPositionWords[k]) + " " + std::string(kWeekdayWords[day]));
      }
    }
    if (has_bit(schedule.last_weekdays, static_cast<int>(day)))
      add_item(text, "last " + std::string(kWeekdayWords[day]));
  }
  return text;
}

std::string weekdays_text(std::uint8_t weekdays) {
  std::string text;
  for (const int day : {1, 2, 3, 4, 5, 6, 0}) {
    if (has_bit(weekdays, day)) add_item(text, kWeekdayWords[static_cast<std::size_t>(day)]);
  }
  return text;
}

tl::unexpected<Error> unsayable(std::string what) {
  return fail(Code::invalid, "cron_args have no words for " + std::move(what), "schedule");
}

struct DayTexts {
  std::string day = "*";
  std::string weekday = {};  // empty: any
};

Result<DayTexts> days_of(const Schedule& schedule) {
  if (schedule.near_weekday != 0 || schedule.last_weekday || (schedule.days_from_end & ~std::uint32_t{1}) != 0) {
    return unsayable("W and L-n");
  }
  const bool any_date = schedule.days == kAllDates && schedule.days_from_end == 0;
  const std::string positions = positions_text(schedule);
  const bool any_weekday = (schedule.weekdays & kEveryWeekday) == kEveryWeekday && positions.empty();
  if (schedule.combine == Schedule::Combine::any && !any_date && !any_weekday) {
    return unsayable("'this date or that weekday'; make two jobs of it");
  }
  DayTexts texts;
  if (!any_date) {
    texts.day = schedule.days == 0 ? "" : numbers_text(schedule.days, 1, 31);
    if (schedule.days_from_end != 0) add_item(texts.day, "last");
  }
  if (positions.empty()) {
    if (!any_weekday) texts.weekday = weekdays_text(schedule.weekdays);
    return texts;
  }
  if (schedule.weekdays != 0 || !any_date) return unsayable("weekdays of both kinds, or a date beside 1#2");
  texts.day = positions;
  return texts;
}

// @every d as fields, where the clock's own cycle is a multiple of it.
std::optional<std::pair<std::string_view, std::string>> fields_of_every(Seconds every) {
  const std::int64_t seconds = every.count();
  if (seconds > 0 && seconds < 60 && 60 % seconds == 0) return std::pair("second", "*/" + std::to_string(seconds));
  if (seconds % 60 == 0 && seconds < 3600 && 3600 % seconds == 0) {
    return std::pair("minute", "*/" + std::to_string(seconds / 60));
  }
  if (seconds == 3600) return std::pair("hour", std::string("*"));
  return std::nullopt;
}

Node text_node(std::string text) { return Node(std::move(text)); }

// As a shell reads it back.
std::string shell_quoted(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

bool is_plain_word(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=+,@%").find(c) != std::string_view::npos;
  });
}

// A cluster's commands are read by a shell; what a job file executes without one must arrive word by word.
Result<std::string> shell_command(const jobs::JobDefinition& definition) {
  const std::string& command = command_of(definition);
  const std::string& shell = definition.options->shell;
  if (shell == "/bin/sh") return command;
  if (!shell.empty()) return "exec " + shell_quoted(shell) + " -c " + shell_quoted(command);
  const auto words = jobs::words_of(command);
  if (!words) return fail(words.error());
  std::string text = "exec";
  // A first word with = would be taken for a variable.
  for (const std::string& word : *words) {
    const bool is_first = text == "exec";
    const bool is_plain = is_plain_word(word) && !(is_first && word.find('=') != std::string::npos);
    text += " " + (is_plain ? word : shell_quoted(word));
  }
  return text;
}

// Schedules are compared by what they do: from now on, around every change of the clock, and far ahead.
bool have_same_times(const Job& a, const Job& b) {
  constexpr int kTimes = 60;
  constexpr std::int64_t kFrom = 1'577'836'800;  // 2020
  constexpr std::int64_t kTo = 2'208'988'800;    // 2040
  std::vector<Instant> from{kFirstInstant, instant_of(1'700'000'000), instant_of(4'000'000'000)};
  for (const ZoneSegment& segment : a.zone.segments()) {
    if (segment.start > kFrom && segment.start < kTo) {
      from.push_back(instant_of(segment.start - 90'000));
      from.push_back(instant_of(segment.start - 8'000));
      from.push_back(instant_of(segment.start - 1));
    }
  }
  for (Instant start : from) {
    for (int count = 0; count < kTimes; ++count) {
      const auto next = a.schedule.next_after(start, a.zone);
      if (next != b.schedule.next_after(start, b.zone)) return false;
      if (!next) break;
      start = *next;
    }
  }
  return true;
}

}  // namespace

std::string definition_text(const NewDefinition& definition) {
  JsonWriter json;
  json.begin_map().key("cron_args").begin_map().member("cronstring", definition.cron).end_map();
  json.key("job_args").begin_map().member("cmd", definition.command).key("lock");
  if (definition.lock.empty()) {
    json.boolean(definition.is_locked);
  } else {
    json.text(definition.lock);
  }
  json.key("ttl").integer(definition.ttl).end_map();
  if (!definition.task.empty()) {
    json.key("kron").begin_map().member("task", definition.task);
    if (!definition.data.empty()) json.member("stdin", definition.data);
    json.end_map();
  }
  return json.end_map().take();
}

Result<Node> cron_args_of(const Schedule& schedule) {
  Node::Map map;
  const auto put = [&map](std::string_view key, std::string text) {
    map.push_back({std::string(key), {}, text_node(std::move(text))});
  };
  if (schedule.kind == Schedule::Kind::reboot) return unsayable("@reboot; a cluster has no boot");
  if (schedule.kind == Schedule::Kind::every) {
    const auto field = fields_of_every(schedule.every);
    if (!field) return unsayable("@every with a length that does not divide an hour");
    put(field->first, field->second);
    return Node(std::move(map));
  }
  if (schedule.not_before || schedule.not_after || schedule.weekday_filter != kEveryWeekday ||
      schedule.week_filter != kEveryWeek) {
    return unsayable("a schedule that was made of cron_args");
  }
  const auto days = days_of(schedule);
  if (!days) return fail(days.error());
  if (schedule.years != kAllYears) put("year", years_text(schedule.years));
  put("month", numbers_text(schedule.months, 1, 12));
  put("day", days->day);
  if (!days->weekday.empty()) put("day_of_week", days->weekday);
  put("hour", numbers_text(schedule.hours, 0, 23));
  put("minute", numbers_text(schedule.minutes, 0, 59));
  put("second", numbers_text(schedule.seconds, 0, 59));
  return Node(std::move(map));
}

Result<std::string> cluster_text(const jobs::JobDefinition& definition, const ImportTerms& terms, ZoneDatabase& zones) {
  auto args = cron_args_of(definition.job.schedule);
  if (!args) return fail(args.error());
  Node::Map cron_args = *args->as<Node::Map>();
  cron_args.push_back({"timezone", {}, text_node(definition.job.zone.name())});
  const auto model = jobs::node_of(definition);
  if (!model) return fail(model.error());
  const auto command = submits_task(definition) ? std::string() : shell_command(definition);
  if (!command) return fail(command.error());
  Node::Map rest;
  for (const Node::Member& member : *model->as<Node::Map>()) {
    const bool is_said = std::ranges::find(kSaidByCronken, member.key) != kSaidByCronken.end() || member.key == "dst";
    if (!is_said) rest.push_back(member);
  }
  // Always said: the rule that follows from cron_args is not the one that follows from a cron expression.
  // An interval by the clock of UTC leaves nothing out and repeats nothing.
  const bool is_every = definition.job.schedule.kind == Schedule::Kind::every;
  const DstRule dst = is_every ? DstRule{DstRule::Gap::skip, DstRule::Overlap::both} : definition.job.schedule.dst;
  rest.push_back({"dst", {}, text_node(to_string(dst))});

  JsonWriter json;
  json.begin_map().key("cron_args").node(Node(std::move(cron_args)));
  json.key("job_args").begin_map().member("cmd", *command).key("lock").boolean(terms.is_locked);
  json.key("ttl").integer(terms.ttl).end_map();
  json.key("kron").node(Node(std::move(rest)));
  std::string text = json.end_map().take();

  const auto parsed = parse_json(text);
  if (!parsed) return fail(parsed.error());
  jobs::Report report(*definition.file, text);
  jobs::ModelContext context{.zones = zones, .spelling = jobs::Spelling::cronken};
  const auto read = jobs::read_cronken_job(definition.job.identity, *parsed, context, report);
  if (!read) {
    const bool has_problem = !report.problems().empty();
    return fail(has_problem ? jobs::error_of(report.problems().front())
                            : Error{Code::invalid, "a cluster cannot say this"});
  }
  if (!have_same_times(definition.job, read->job)) return unsayable("what this schedule does");
  // All else is the same to the letter, but for the deadline of those that name none: in a cluster it is a second.
  Job same = read->job;
  same.schedule = definition.job.schedule;
  if (definition.job.policy.deadline == Seconds(0)) same.policy.deadline = Seconds(0);
  if (same != definition.job) return fail(Code::invalid, "a cluster would read it otherwise than a job file");
  return text;
}

}  // namespace kron::cli
