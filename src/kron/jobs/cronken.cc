#include "kron/jobs/cronken.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/state.h"
#include "kron/jobs/cluster_rules.h"
#include "kron/json/fields.h"

namespace kron::jobs {
namespace {

constexpr auto kTimeFields = std::to_array<std::string_view>(
    {"cronstring", "year", "month", "day", "week", "day_of_week", "hour", "minute", "second"});
constexpr auto kCronArgs =
    std::to_array<std::string_view>({"year", "month", "day", "week", "day_of_week", "hour", "minute", "second",
                                     "start_date", "end_date", "timezone", "jitter", "cronstring"});
// What cronken's own part of the definition says already.
constexpr auto kSaidElsewhere = std::to_array<std::string_view>({"name", "schedule", "command", "shell"});

// A whole number as pydantic takes one: 10, 10.0, "10", " 10 ", "10.0", true.
std::optional<std::int64_t> cronken_integer(const Node& node) {
  constexpr double kMost = 9e15;
  if (const auto* flag = node.as<bool>()) return *flag ? 1 : 0;
  if (const auto* whole = node.as<std::int64_t>()) return *whole;
  if (const auto* real = node.as<double>()) {
    if (!(*real >= -kMost && *real <= kMost)) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(*real);
    return static_cast<double>(whole) == *real ? std::optional(whole) : std::nullopt;
  }
  const auto* text = node.as<std::string>();
  if (text == nullptr) return std::nullopt;
  std::string_view digits = trimmed(*text);
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  const std::string_view whole = digits.substr(0, digits.find('.'));
  const std::string_view fraction = whole.size() < digits.size() ? digits.substr(whole.size() + 1) : "0";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  constexpr std::size_t kMostDigits = 15;
  if (whole.empty() || whole.size() > kMostDigits || !std::ranges::all_of(whole, is_digit) || fraction.empty() ||
      fraction.find_first_not_of('0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  for (const char c : whole) value = value * 10 + (c - '0');
  return is_negative ? -value : value;
}

// A key that cronken passes by is a warning, unless nothing else says when: then it was most likely meant to.
void look_for_unknown_args(Fields& definition, Fields& args, Report& report) {
  const bool has_time = std::ranges::any_of(kTimeFields, [&](std::string_view key) { return args.has(key); });
  if (!has_time) {
    args.reject_unknown(kCronArgs);
    const auto is_known = [](const Node::Member& member) {
      return std::ranges::find(kCronArgs, member.key) != kCronArgs.end();
    };
    if (std::ranges::all_of(*args.node().as<Node::Map>(), is_known)) {
      definition.report("cron_args",
                        "no time is named; give cronstring, or one of year, month, day, week, day_of_week, hour, "
                        "minute and second");
    }
    return;
  }
  for (const Node::Member& member : *args.node().as<Node::Map>()) {
    const std::string shown = member.key.substr(0, 64);
    if (std::ranges::find(kCronArgs, member.key) == kCronArgs.end()) {
      const std::string_view nearest = nearest_word(member.key, kCronArgs);
      report.warn(member.position, args.path_of(shown), "unknown key " + quoted(member.key) + ": it has no effect",
                  nearest.empty() ? "" : "did you mean " + std::string(nearest) + "?");
    } else if (args.has("cronstring") && member.key != "cronstring" && !member.value.is_null()) {
      report.warn(member.position, args.path_of(shown), "has no effect beside cronstring",
                  member.key == "timezone" ? "name the zone in kron.timezone" : "remove one of the two");
    }
  }
}

// The texts of what counts. Null is APScheduler's way to leave a field out.
std::map<std::string, std::string> texts_of(Fields& args) {
  std::map<std::string, std::string> texts;
  for (const std::string_view key : kCronArgs) {
    const Node* node = args.find(key);
    if (node == nullptr || (args.has("cronstring") && key != "cronstring")) continue;
    if (key == "jitter") {
      if (const auto seconds = cronken_integer(*node)) {
        texts.emplace(key, std::to_string(*seconds));
        continue;
      }
    }
    if (auto text = args.scalar(key)) texts.emplace(key, *std::move(text));
  }
  return texts;
}

std::optional<CronArgs> read_cron_args(Fields& definition, ModelContext& context, Report& report) {
  std::optional<Fields> args = definition.map("cron_args");
  if (!args) return std::nullopt;
  look_for_unknown_args(definition, *args, report);
  const std::map<std::string, std::string> texts = texts_of(*args);
  const auto cronstring = texts.find("cronstring");
  if (cronstring != texts.end() && lower(trimmed(cronstring->second)) == "@reboot") {
    args->report("cronstring", "@reboot is for the job files of one host, not for cronken; give a time");
    return std::nullopt;
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

// true and false, 0 and 1 in numbers, or the lock's name; an empty name is no lock.
void read_lock(Fields& args, ClusterTerms& terms) {
  const Node* lock = args.find("lock");
  if (lock == nullptr) return;
  if (const auto* name = lock->as<std::string>()) {
    terms.locked = !name->empty();
    terms.lock_name = *name;
  } else if (const auto flag = cronken_boolean(*lock)) {
    terms.locked = *flag;
  } else {
    args.report("lock", "expected true, false or the name of a lock, found " + std::string(kind_of(*lock)));
  }
}

// A job that submits a task: our part of the definition says so, and cronken's has no command then.
bool has_task(const Fields& definition) {
  const Node* extension = definition.find("kron");
  const Node* task = extension != nullptr ? extension->find("task") : nullptr;
  return task != nullptr && !task->is_null();
}

std::string short_text(const Node* node) {
  const auto* text = node != nullptr ? node->as<std::string>() : nullptr;
  return text != nullptr && text->size() <= kMostNoteBytes ? *text : std::string();
}

// Of a job_state that says paused. What is wrong with our part of it is not known, and no reason to refuse the job.
ClusterPause pause_in(const Node& job_state) {
  const Node* ours = job_state.find(kPauseMember);
  if (ours == nullptr || ours->as<Node::Map>() == nullptr) return {};
  ClusterPause pause{.by = short_text(ours->find("by")), .note = short_text(ours->find("note"))};
  if (const auto since = parse_rfc3339(short_text(ours->find("since")))) pause.since = *since;
  return pause;
}

std::optional<ClusterTerms> read_terms(Fields& definition, std::string& command) {
  std::optional<Fields> args = definition.map("job_args");
  if (!args) return std::nullopt;
  for (const std::string_view key : {"cmd", "lock", "ttl"}) {
    if (key == "cmd" && has_task(definition)) continue;
    if (!args->has(key)) args->report(key, "missing; cronken needs cmd, lock and ttl");
  }
  ClusterTerms terms;
  if (const auto text = args->text("cmd")) command = *text;
  read_lock(*args, terms);
  if (const Node* node = args->find("ttl"); node != nullptr) {
    const std::optional<std::int64_t> ttl = cronken_integer(*node);
    terms.ttl = Seconds(ttl.value_or(0));
    if (!ttl) {
      args->report("ttl", "expected whole seconds, found " + (node->as<std::string>() != nullptr
                                                                  ? quoted(*node->as<std::string>())
                                                                  : std::string(kind_of(*node))));
    } else if (*ttl < 0 || *ttl > std::numeric_limits<std::int32_t>::max()) {
      args->report("ttl", "out of range; expected whole seconds, 0 or more");
    }
  }
  if (std::optional<Fields> state = definition.map("job_state"); state && state->has("paused")) {
    const std::optional<bool> paused = cronken_boolean(*state->find("paused"));
    terms.paused = paused.value_or(false);
    if (!paused) state->report("paused", "expected true or false");
  }
  return terms;
}

bool has_deadline(const Fields& definition) {
  const Node* extension = definition.find("kron");
  const Node* policy = extension != nullptr ? extension->find("policy") : nullptr;
  const Node* deadline = policy != nullptr ? policy->find("deadline") : nullptr;
  return deadline != nullptr && !deadline->is_null();
}

// The definition in the model's shape; cron_args is handed over apart.
Node model_node(const std::string& name, Fields& definition, std::string command, const CronArgs& cron_args) {
  const Position at = definition.node().position();
  Node::Map map;
  map.push_back({"name", at, Node(name, at)});
  if (!has_task(definition) || !trimmed(command).empty()) {
    map.push_back({"command", at, Node(std::move(command), at)});
  }
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

std::optional<bool> cronken_boolean(const Node& node) {
  constexpr auto kTrue = std::to_array<std::string_view>({"1", "true", "t", "yes", "y", "on"});
  constexpr auto kFalse = std::to_array<std::string_view>({"0", "false", "f", "no", "n", "off"});
  if (const auto* flag = node.as<bool>()) return *flag;
  std::string word;
  if (const auto* text = node.as<std::string>()) word = lower(*text);
  if (const auto* whole = node.as<std::int64_t>()) word = std::to_string(*whole);
  if (const auto* real = node.as<double>()) word = *real == 0 ? "0" : *real == 1 ? "1" : "";
  if (std::ranges::find(kTrue, word) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, word) != kFalse.end()) return false;
  return std::nullopt;
}

std::optional<ClusterPause> cronken_pause(const Node& definition) {
  const Node* state = definition.find("job_state");
  const Node* paused = state != nullptr ? state->find("paused") : nullptr;
  if (paused == nullptr || cronken_boolean(*paused) != std::optional(true)) return std::nullopt;
  return pause_in(*state);
}

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
  const std::optional<CronArgs> cron_args = read_cron_args(fields, context, report);
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
  if (context.is_clustered) {
    adapt_to_cluster(*job, options, has_deadline(fields));
    job->options = std::make_shared<const RunOptions>(options);
    report.errors(refused_in_cluster(*job), definition);
    if (report.error_count() != errors_before) return std::nullopt;
  }
  job->options = context.pool.share(std::move(options));
  if (auto pause = cronken_pause(definition)) job->pause = std::make_shared<const ClusterPause>(*std::move(pause));
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
