#include "kron/jobs/cronken.h"

#include <algorithm>
#include <limits>
#include <map>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/jobs/keys.h"

namespace kron::jobs {
namespace {

constexpr auto kCronArgs =
    std::to_array<std::string_view>({"year", "month", "day", "week", "day_of_week", "hour", "minute", "second",
                                     "start_date", "end_date", "timezone", "jitter", "cronstring"});
// What cronken's own part of the definition says already.
constexpr auto kSaidElsewhere = std::to_array<std::string_view>({"name", "schedule", "command", "shell"});

std::optional<CronArgs> read_cron_args(Fields& definition, ModelContext& context) {
  std::optional<Fields> args = definition.map("cron_args");
  if (!args) return std::nullopt;
  args->reject_unknown(kCronArgs);
  std::map<std::string, std::string> texts;
  for (const Node::Member& member : *args->node().as<Node::Map>()) {
    // Null is APScheduler's way to leave a field out.
    if (auto text = args->scalar(member.key)) texts.emplace(member.key, *std::move(text));
  }
  TimeZone fallback = context.zone;
  if (const Node* extension = definition.find("kron"); extension != nullptr) {
    const Node* zone = extension->find("timezone");
    const auto* name = zone != nullptr ? zone->as<std::string>() : nullptr;
    if (name != nullptr) definition.take(fallback, "kron.timezone", context.zones.find(*name));
  }
  Result<CronArgs> parsed = parse_cron_args(texts, fallback, context.zones);
  if (parsed) return *std::move(parsed);
  args->report(parsed.error().field, parsed.error().message, parsed.error().column);
  return std::nullopt;
}

std::optional<ClusterTerms> read_terms(Fields& definition, std::string& command) {
  std::optional<Fields> args = definition.map("job_args");
  if (!args) return std::nullopt;
  for (const std::string_view key : {"cmd", "lock", "ttl"}) {
    if (!args->has(key)) args->report(key, "missing; cronken needs cmd, lock and ttl");
  }
  ClusterTerms terms;
  if (const auto text = args->text("cmd")) command = *text;
  if (const Node* lock = args->find("lock"); lock != nullptr && lock->as<bool>() != nullptr) {
    terms.locked = *lock->as<bool>();
  } else if (const auto name = args->text("lock")) {
    terms.lock_name = *name;
  }
  if (const auto ttl = args->integer("ttl")) {
    terms.ttl = Seconds(*ttl);
    if (*ttl < 0 || *ttl > std::numeric_limits<std::int32_t>::max()) {
      args->report("ttl", "out of range; expected whole seconds, 0 or more");
    }
  }
  if (std::optional<Fields> state = definition.map("job_state")) {
    terms.paused = state->boolean("paused").value_or(false);
  }
  return terms;
}

// The definition in the model's shape; cron_args is handed over apart.
Node model_node(const std::string& name, Fields& definition, std::string command, const CronArgs& cron_args) {
  const Position at = definition.node().position();
  Node::Map map;
  map.push_back({"name", at, Node(name, at)});
  map.push_back({"command", at, Node(std::move(command), at)});
  map.push_back({"shell", at, Node(true, at)});
  std::optional<Fields> extension = definition.map("kron");
  if (extension) {
    for (const Node::Member& member : *extension->node().as<Node::Map>()) {
      if (std::ranges::find(kSaidElsewhere, member.key) != kSaidElsewhere.end()) {
        extension->report(member.key, "cronken's part of the definition says this already; remove it here");
      } else if (member.key != "timezone") {  // read with cron_args
        map.push_back(member);
      }
    }
  }
  if (cron_args.jitter.count() != 0) {
    if (extension && extension->has("window")) {
      extension->report("window", "cron_args.jitter is a window too; keep one of them");
    } else {
      map.push_back({"window", at, Node(duration_text(cron_args.jitter), at)});
    }
  }
  return Node(std::move(map), at);
}

}  // namespace

std::optional<JobDefinition> read_cronken_job(const std::string& name, const Node& definition, ModelContext& context,
                                              Report& report) {
  const std::size_t errors_before = report.error_count();
  if (definition.as<Node::Map>() == nullptr) {
    report.error(definition.position(), name, "the definition of " + quoted(name) + " must be a map",
                 "write {\"cron_args\": {…}, \"job_args\": {…}}");
    return std::nullopt;
  }
  std::vector<Error> errors;
  Fields fields(definition, "", errors);
  for (const std::string_view part : {"cron_args", "job_args"}) {
    if (!fields.has(part)) fields.report(part, "missing; cronken needs cron_args and job_args");
  }
  std::string command;
  const std::optional<CronArgs> cron_args = read_cron_args(fields, context);
  const std::optional<ClusterTerms> terms = read_terms(fields, command);
  std::optional<Node> node;
  if (cron_args && terms) node = model_node(name, fields, std::move(command), *cron_args);
  report.errors(errors, definition);
  if (!node) return std::nullopt;
  const bool free_names = std::exchange(context.free_names, true);
  std::optional<JobDefinition> job = read_definition(*node, context, report, errors_before, &*cron_args);
  context.free_names = free_names;
  if (!job) return std::nullopt;
  RunOptions options = *job->options;
  options.terms = terms;
  job->options = context.pool.share(std::move(options));
  return job;
}

std::vector<JobDefinition> read_cronken_document(const Node& document, ModelContext& context, Report& report) {
  std::vector<JobDefinition> definitions;
  if (document.as<Node::Map>() == nullptr) {
    report.error(document.position(), "", "a file of cronken jobs must be a map",
                 "write {\"name\": {\"cron_args\": {…}, \"job_args\": {…}}}");
    return definitions;
  }
  for (const Node::Member& member : *document.as<Node::Map>()) {
    if (auto job = read_cronken_job(member.key, member.value, context, report)) definitions.push_back(*std::move(job));
  }
  return definitions;
}

}  // namespace kron::jobs
