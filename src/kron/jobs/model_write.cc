#include <algorithm>
#include <array>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/schedule_expression.h"
#include "kron/jobs/map_writer.h"
#include "kron/jobs/model.h"
#include "kron/jobs/option_writer.h"

namespace kron::jobs {
namespace {

MapWriter distribution_map(const Job& job) {
  const Distribution& distribution = job.distribution;
  const Distribution plain;
  MapWriter given;
  for (const auto& [key, value] : parameters_of(distribution, job.window)) {
    const bool by_default = (key == "shape" && distribution.shape == plain.shape) ||
                            (key == "lambda" && distribution.lambda == plain.lambda) ||
                            (key == "dir" && distribution.direction == plain.direction) ||
                            (key == "mu" && distribution.mu == plain.mu) || (key == "sigma" && !distribution.sigma);
    if (!by_default) given.text(key, value);
  }
  MapWriter map;
  if (distribution == Distribution{}) return map;
  map.text("name", std::string(name_of(distribution.kind)));
  map.map_unless_empty("params", std::move(given));
  return map;
}

MapWriter policy_map(const JobDefinition& definition) {
  const Policy& policy = definition.job.policy;
  MapWriter map;
  if (policy.concurrency != Policy{}.concurrency) map.text("concurrency", std::string(name_of(policy.concurrency)));
  if (policy.deadline.count() != 0) map.seconds("deadline", policy.deadline);
  if (policy.suspend || (definition.options->terms && definition.options->terms->paused)) map.flag("suspend", true);
  if (policy.pause_after != 0) map.number("pauseAfter", policy.pause_after);
  if (policy.catch_up_spread) map.seconds("catchUpSpread", *policy.catch_up_spread);
  return map;
}

MapWriter constraint_map(const ConstraintSet& set) {
  MapWriter map;
  for (auto& [kind, value] : clauses_of(set)) map.text(kind, std::move(value));
  return map;
}

std::string date_text(std::int32_t date) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d", date / 10000, date / 100 % 100, date % 100);
  return text.data();
}

MapWriter calendar_map(const Constraints& constraints) {
  std::map<std::string, Node::List> calendars;
  for (const ConstraintSet* set : {&constraints.only, &constraints.avoid}) {
    for (const Calendar& calendar : set->calendars) {
      Node::List& dates = calendars[calendar.name];
      dates.clear();
      for (const DateRange& range : calendar.dates) {
        std::string text = date_text(range.first);
        if (range.last != range.first) text += ".." + date_text(range.last);
        dates.push_back(Node(std::move(text)));
      }
    }
  }
  MapWriter map;
  for (auto& [name, dates] : calendars) map.put(name, Node(std::move(dates)));
  return map;
}

Status write_timing(const JobDefinition& definition, MapWriter& map) {
  const Job& job = definition.job;
  std::string expression = expression_of(job.schedule);
  const Result<Schedule> read_back = parse_schedule(expression, job.identity);
  Schedule without_override = job.schedule;
  without_override.dst = default_dst_rule(job.schedule);
  if (!read_back || *read_back != without_override) {
    return fail(Code::invalid, "the schedule of " + quoted(job.identity) + " cannot be said in one cron expression",
                "schedule");
  }
  map.text("schedule", std::move(expression));
  if (job.zone != TimeZone()) map.text("timezone", job.zone.name());
  if (job.window != WindowSpec{}) {
    MapWriter window;
    window.text("mode", std::string(name_of(job.window.mode)));
    window.text("duration", duration_text(job.window.duration));
    map.map_unless_empty("window", std::move(window));
  }
  map.map_unless_empty("distribution", distribution_map(job));
  MapWriter seed;
  if (job.seed_strategy != SeedStrategy::stable) seed.text("strategy", std::string(name_of(job.seed_strategy)));
  seed.text_unless_empty("salt", job.salt);
  map.map_unless_empty("seed", std::move(seed));
  map.map_unless_empty("policy", policy_map(definition));
  map.map_unless_empty("only", constraint_map(job.constraints.only));
  map.map_unless_empty("avoid", constraint_map(job.constraints.avoid));
  map.map_unless_empty("calendars", calendar_map(job.constraints));
  if (job.schedule.dst != without_override.dst) {
    map.text("dst", to_string(job.schedule.dst));
  }
  return {};
}

void write_action(const JobDefinition& definition, MapWriter& map) {
  map.text_unless_empty("command", command_of(definition));
  if (const auto* task = std::get_if<SubmitTask>(&definition.action)) map.text("task", task->type);
  OptionWriter writer(map);
  visit_options(writer, *definition.options);
}

bool is_all_utf8(const Node& node) {
  if (const auto* text = node.as<std::string>()) return is_valid_utf8(*text);
  if (const auto* list = node.as<Node::List>()) return std::ranges::all_of(*list, is_all_utf8);
  const auto* map = node.as<Node::Map>();
  return map == nullptr || std::ranges::all_of(*map, [](const Node::Member& member) {
           return is_valid_utf8(member.key) && is_all_utf8(member.value);
         });
}

}  // namespace

Result<Node> node_of(const JobDefinition& definition) {
  MapWriter map;
  map.text("name", definition.job.identity);
  if (const Status written = write_timing(definition, map); !written) return fail(written.error());
  write_action(definition, map);
  Node node = std::move(map).node();
  if (!is_all_utf8(node)) {
    return fail(Code::invalid, quoted(definition.job.identity) + " has a value that is not valid UTF-8", "command");
  }
  return node;
}

}  // namespace kron::jobs
