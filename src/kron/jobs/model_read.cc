#include <algorithm>

#include "kron/base/text.h"
#include "kron/core/make_job.h"
#include "kron/jobs/action_fields.h"
#include "kron/jobs/calendar_files.h"
#include "kron/jobs/keys.h"
#include "kron/jobs/model.h"
#include "kron/jobs/schedule_advice.h"
#include "kron/jobs/words.h"
#include "kron/jobs/zone_files.h"
#include "kron/json/job_fields.h"

namespace kron::jobs {
namespace {

constexpr std::string_view kNameRule =
    "names are lower-case letters, digits and . _ / -, begin and end with a letter or digit, at most 200 bytes";

void read_identity(Fields& fields, const ModelContext& context, Job& job) {
  const std::optional<std::string> name = fields.scalar("name");
  if (!name) return;
  const bool good = context.free_names ? !name->empty() && is_valid_utf8(*name) : is_job_name(*name);
  if (good) {
    job.identity = *name;
  } else {
    fields.report("name",
                  quoted(*name) + " is not a valid job name; " +
                      (context.free_names ? "a name is any non-empty UTF-8 text" : std::string(kNameRule)),
                  1);
  }
}

// The name is asked for whatever else is wrong, unless it is plainly the key that was misspelt.
void check_name(Fields& fields, const ModelContext& context) {
  if (fields.has("name")) return;
  const auto means_name = [](const std::string& key) { return nearest_word(key, definition_keys()) == "name"; };
  if (std::ranges::any_of(context.unknown_keys, means_name)) return;
  const Node::Map& members = *fields.node().as<Node::Map>();
  if (std::ranges::any_of(members, means_name, &Node::Member::key)) return;
  fields.report("name", "the job has no name; give it one that no other job has");
}

void check_required(Fields& fields, const ModelContext& context, bool has_schedule) {
  if (!has_schedule && !fields.has("schedule")) {
    fields.report("schedule", "the job has no schedule; give a cron expression such as 30 2 * * *");
  }
  if (context.needs_action && !fields.has("command") && !fields.has("task")) {
    fields.report("command", "the job has no command; give the command to run, or a task to submit");
  }
  const Node* window = fields.find("window");
  if (window != nullptr && window->as<Node::Map>() != nullptr && window->find("duration") == nullptr) {
    fields.report("window.duration", "the window has no duration; say how long it is, such as 30m or 3h");
  }
}

// The nearest zone of the database, when there is one, instead of what a name looks like.
void suggest_zone(const Fields& fields, std::vector<Error>& errors) {
  const auto unknown = std::ranges::find(errors, "timezone", &Error::field);
  const Node* zone = fields.find("timezone");
  if (unknown == errors.end() || zone == nullptr || zone->as<std::string>() == nullptr) return;
  unknown->message = with_nearest_zone(unknown->message, *zone->as<std::string>());
}

Position inside(const Node& node, std::size_t offset) {
  return {node.position().line, node.position().column + offset};
}

// The draft in the definition becomes the job.
void make_job_of(JobDefinition& definition, Fields& fields) {
  Result<Job> job = make_job(std::move(definition.job));
  if (job) {
    definition.job = *std::move(job);
  } else {
    fields.report(job.error().field, job.error().message);
  }
}

// What is right and hardly meant.
void advise(const Node& node, const JobDefinition& definition, Report& report) {
  const Node* schedule = node.find("schedule");
  if (schedule != nullptr && schedule->as<std::string>() != nullptr) {
    for (const ScheduleAdvice& advice : advice_on(*schedule->as<std::string>())) {
      report.warn(inside(*schedule, advice.column - 1), "schedule", advice.message, advice.cure);
    }
  }
  const Node* command = node.find("command");
  if (command != nullptr && command->as<std::string>() != nullptr && definition.options->shell.empty()) {
    const std::size_t special = first_shell_character(command_of(definition));
    if (special != std::string::npos) {
      report.warn(inside(*command, special), "command",
                  "no shell reads this command: " + quoted(command_of(definition).substr(special, 1)) +
                      " is passed on as it is",
                  "add shell=true to run it by a shell, or quote the character");
    }
  }
  const Node* calendars = node.find("calendars");
  if (calendars == nullptr) return;
  const auto uses = [](const ConstraintSet& set, const std::string& name) {
    return std::ranges::find(set.calendars, name, &Calendar::name) != set.calendars.end();
  };
  const Constraints& constraints = definition.job.constraints;
  for (const Node::Member& member : *calendars->as<Node::Map>()) {
    if (uses(constraints.only, member.key) || uses(constraints.avoid, member.key)) continue;
    report.warn(member.position, "calendars", "the calendar " + quoted(member.key) + " is not used by this job",
                "name it in only or avoid, as calendar: " + member.key);
  }
}

CalendarReader calendar_reader(ModelContext& context, Report& report) {
  if (context.calendar_files == nullptr) return {};
  return [&context, &report](const std::string& path, const Node& place) {
    return context.calendar_files->find(path, place.position(), report);
  };
}

// Maps in which a job may give one key and take the others from the defaults. The rest is taken or replaced whole: a
// shape makes no sense for another distribution, and `only` could never be loosened.
constexpr auto kMergedMaps =
    std::to_array<std::string_view>({"window", "seed", "policy", "env", "credential", "limits", "notify", "calendars"});

bool is_of_commands(std::string_view key) { return std::ranges::find(kOfCommands, key) != kOfCommands.end(); }

Node merged(const Node& job, const Node& defaults) {
  if (job.as<Node::Map>() == nullptr || defaults.as<Node::Map>() == nullptr) return job;
  Node::Map members = *job.as<Node::Map>();
  for (const Node::Member& given : *defaults.as<Node::Map>()) {
    const auto own = std::ranges::find(members, given.key, &Node::Member::key);
    if (own != members.end()) {
      if (std::ranges::find(kMergedMaps, given.key) != kMergedMaps.end()) own->value = merged(own->value, given.value);
    } else if (!(job.find("task") != nullptr && is_of_commands(given.key)) &&
               !(given.key == "task" && job.find("command") != nullptr)) {
      // A job with a task does not want the default command, and the other way round.
      members.push_back(given);
    }
  }
  return Node(std::move(members), job.position());
}

bool names_a_calendar(const Node& job) {
  const auto names_one = [&](std::string_view side) {
    const Node* set = job.find(side);
    return set != nullptr && set->find("calendar") != nullptr;
  };
  return names_one("only") || names_one("avoid");
}

// The file's calendars that this job names, beside its own.
Node with_calendars(const Node& job, const Node& calendars) {
  if (!names_a_calendar(job) || calendars.as<Node::Map>() == nullptr) return job;
  const auto is_named = [&](const std::string& name, std::string_view side) {
    const Node* set = job.find(side);
    const Node* names = set != nullptr ? set->find("calendar") : nullptr;
    if (names == nullptr) return false;
    const auto holds = [&](const Node& item) {
      const std::optional<std::string> list = word_of(item);
      return list && ("," + *list + ",").find("," + name + ",") != std::string::npos;
    };
    const auto* items = names->as<Node::List>();
    return items != nullptr ? std::ranges::any_of(*items, holds) : holds(*names);
  };
  Node::Map named;
  for (const Node::Member& member : *calendars.as<Node::Map>()) {
    if (is_named(member.key, "only") || is_named(member.key, "avoid")) named.push_back(member);
  }
  Node::Map given;
  given.push_back({"calendars", calendars.position(), Node(std::move(named), calendars.position())});
  return merged(job, Node(std::move(given)));
}

void read_pools(Fields& fields, ModelContext& context) {
  const Node* pools = fields.find("pools");
  std::optional<Fields> slots = pools != nullptr ? fields.map("pools") : std::nullopt;
  if (!slots) return;
  for (const Node::Member& member : *pools->as<Node::Map>()) {
    if (!is_job_name(member.key)) {
      slots->report(member.key, quoted(member.key) + " is no name of a pool; " + std::string(kNameRule));
      continue;
    }
    const std::optional<std::int64_t> number = slots->integer(member.key);
    if (!number) continue;
    if (*number < 1 || *number > kMostSlots) {
      slots->report(member.key, "a pool has from 1 to " + std::to_string(kMostSlots) + " slots");
      continue;
    }
    context.pools.push_back({{member.key, static_cast<std::uint32_t>(*number)}, context.file, member.position});
  }
}

// Manifests of Kubernetes are YAML too; what they are is more helpful than what they lack.
bool refuse_manifest(const Node& document, Report& report) {
  const Node* kind = document.find("kind");
  if (kind == nullptr || kind->as<std::string>() == nullptr || document.find("apiVersion") == nullptr) return false;
  const std::string& name = *kind->as<std::string>();
  if (name == "KronJob") {
    report.error(kind->position(), "kind", "this is a KronJob: Kron's operator for Kubernetes runs it, krond cannot",
                 "kron kube lint checks it; a job file has jobs:, each with a command that this host runs");
  } else {
    report.error(kind->position(), "kind", "this is a manifest of Kubernetes (" + quoted(name) + "), not a job file",
                 name == "CronJob" ? "kron import cronjob shows what becomes of it"
                                   : "a job file has jobs:, each with a command that this host runs");
  }
  return true;
}

}  // namespace

std::optional<std::string> word_of(const Node& node) {
  if (const bool* flag = node.as<bool>()) return *flag ? "true" : "false";
  return scalar_text(node);
}

std::optional<JobDefinition> read_definition(const Node& node, ModelContext& context, Report& report,
                                             std::size_t errors_before, const CronArgs* cron_args) {
  if (node.as<Node::Map>() == nullptr) {
    report.error(node.position(), "", "a job must be a map of keys", "write name: …, schedule: …, command: …");
    return std::nullopt;
  }
  std::vector<Error> errors;
  Fields fields(node, "", errors);
  fields.reject_unknown(definition_keys());
  // A misspelt key is most likely the missing one: one message is enough.
  const bool is_clean = errors.empty() && report.error_count() == errors_before;
  check_name(fields, context);
  if (is_clean) check_required(fields, context, cron_args != nullptr);

  JobDefinition definition;
  definition.file = context.file;
  definition.line = static_cast<std::uint32_t>(node.position().line);
  definition.spelling = context.spelling;
  definition.job.zone = context.zone;
  if (cron_args != nullptr) {
    definition.job.zone = cron_args->zone;
    definition.job.schedule = cron_args->schedule;
  }
  read_identity(fields, context, definition.job);
  kron::read_job(definition.job, fields, context.zones, calendar_reader(context, report));
  RunOptions options;
  read_action(fields, definition.action, options);
  suggest_zone(fields, errors);
  const std::string identity = definition.job.identity;
  if (is_clean && errors.empty()) make_job_of(definition, fields);
  report.errors(errors, node);
  if (report.error_count() != errors_before) {
    if (!identity.empty()) context.refused.push_back({identity, context.file, definition.line});
    return std::nullopt;
  }
  definition.options = context.pool.share(std::move(options));
  const Node* schedule = node.find("schedule");
  if (schedule != nullptr && schedule->as<std::string>() != nullptr) {
    definition.schedule_text = kept_schedule_text(*schedule->as<std::string>(), definition.job.schedule);
  }
  advise(node, definition, report);
  return definition;
}

Result<JobDefinition> read_requested_definition(const Node& node, ZoneDatabase& zones) {
  ModelContext context{.zones = zones, .free_names = true, .needs_action = false};
  Report report("", "");
  std::optional<JobDefinition> definition = read_definition(node, context, report, 0);
  if (definition) return *std::move(definition);
  const auto first = std::ranges::find(report.problems(), Severity::error, &Problem::severity);
  return fail(error_of(*first));
}

std::vector<JobDefinition> read_job_document(const Node& document, ModelContext& context, Report& report) {
  std::vector<JobDefinition> definitions;
  if (document.is_null()) return definitions;
  const Node* jobs = document.find("jobs");
  if (jobs == nullptr && refuse_manifest(document, report)) return definitions;
  if (jobs == nullptr || jobs->as<Node::List>() == nullptr) {
    report.error(jobs != nullptr ? jobs->position() : document.position(), "jobs", "the file has no list of jobs",
                 "write jobs: and below it one `- name: …` for each job");
    return definitions;
  }
  std::vector<Error> errors;
  Fields fields(document, "", errors);
  fields.reject_unknown(kFileKeys);
  if (std::optional<Fields> defaults = fields.map("defaults")) {
    defaults->reject_unknown(definition_keys());
    if (defaults->has("name")) defaults->report("name", "a name cannot be a default; each job has its own");
  }
  if (fields.has("calendars")) fields.map("calendars");
  read_pools(fields, context);
  report.errors(errors, document);
  const Node* defaults = fields.find("defaults");
  const Node* calendars = fields.find("calendars");
  definitions.reserve(jobs->as<Node::List>()->size());
  for (const Node& job : *jobs->as<Node::List>()) {
    Node whole = defaults != nullptr ? merged(job, *defaults) : job;
    if (calendars != nullptr) whole = with_calendars(whole, *calendars);
    if (auto definition = read_definition(whole, context, report, report.error_count())) {
      definitions.push_back(*std::move(definition));
    }
  }
  return definitions;
}

}  // namespace kron::jobs
