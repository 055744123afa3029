#include "kron/jobs/import_cronjob.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/schedule.h"
#include "kron/jobs/dst_effects.h"
#include "kron/jobs/yaml.h"
#include "kron/jobs/zone_files.h"

namespace kron::jobs {
namespace {

// Without startingDeadlineSeconds a CronJob runs however late it is, once: the longest a deadline need ever be.
constexpr std::string_view kNoDeadline = "52w";
// A shorter deadline does not outlive the take-over of a leader that died.
constexpr Seconds kTakeOver{30};
constexpr std::int64_t kMostHistory = 1000;
// Members of metadata that the server sets; they would be refused or ignored on a new object.
constexpr auto kServerSet = std::to_array<std::string_view>(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp"});
constexpr auto kKeptMetadata = std::to_array<std::string_view>({"name", "namespace", "labels", "annotations"});
constexpr auto kKnownSpec =
    std::to_array<std::string_view>({"schedule", "timeZone", "suspend", "concurrencyPolicy", "startingDeadlineSeconds",
                                     "successfulJobsHistoryLimit", "failedJobsHistoryLimit", "jobTemplate"});
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

template <class Words>
bool has(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

Node text_node(std::string_view text) { return Node(std::string(text)); }

void put(Node::Map& map, std::string_view key, Node value) { map.push_back({std::string(key), {}, std::move(value)}); }

class Importer {
 public:
  Importer(ZoneDatabase& zones, Report& report, std::optional<Instant> now)
      : zones_(zones), report_(report), now_(now) {}

  void take(const Node& document);
  std::vector<Node> kron_jobs;

 private:
  void take_cron_job(const Node& document);
  Node metadata_of(const Node& metadata);
  Node annotations_of(const Node& annotations);
  void put_timing(Node::Map& spec, const Node& from);
  std::string schedule_and_zone(Node::Map& spec, const Node& from);
  void take_zone(Node::Map& spec, const Node& from, const std::string& zone);
  void look_at_days(std::string_view schedule, Position at);
  void look_at_clock(const Schedule& schedule, Position at);
  void look_at_gaps(const Schedule& schedule, Position at);
  void look_at_overlaps(Schedule schedule, Position at);
  // "2027-03-28 02:30": the first time that a change of the clock touches so.
  [[nodiscard]] std::optional<std::string> first_effect(const Schedule& schedule, DstEffect::Kind kind) const;
  void put_history(Node::Map& spec, const Node& from);
  void look_at_template(const Node& job_template);
  Node policy_of(const Node& from);

  // The text of a member; an error when it is something else.
  std::string text_in(const Node& map, std::string_view key);
  void error(const Node& at, std::string_view field, std::string message, std::string cure = {}) {
    report_.error(at.position(), std::string(field), std::move(message), std::move(cure));
  }
  void note(Position at, std::string_view field, std::string message, std::string cure = {}) {
    report_.note(at, std::string(field), std::move(message), std::move(cure));
  }

  ZoneDatabase& zones_;
  Report& report_;
  std::optional<Instant> now_;
  TimeZone zone_;  // of the CronJob that is read
};

std::string Importer::text_in(const Node& map, std::string_view key) {
  const Node* found = map.find(key);
  if (found == nullptr || found->is_null()) return {};
  if (const auto* text = found->as<std::string>()) return *text;
  error(*found, key, std::string(key) + " must be a text, not " + std::string(kind_of(*found)));
  return {};
}

void Importer::take(const Node& document) {
  if (document.is_null()) return;
  if (document.as<Node::Map>() == nullptr) {
    return error(document, "", "expected a Kubernetes object, found " + std::string(kind_of(document)));
  }
  const std::string kind = text_in(document, "kind");
  const Node* items = document.find("items");
  if (kind.ends_with("List") && items != nullptr && items->as<Node::List>() != nullptr) {
    for (const Node& item : *items->as<Node::List>()) take(item);
  } else if (kind == "CronJob") {
    take_cron_job(document);
  } else {
    note(document.position(), "kind",
         "passed by: this is " + (kind.empty() ? "of no kind" : "a " + quoted(kind)) + ", not a CronJob");
  }
}

void Importer::take_cron_job(const Node& document) {
  const std::size_t errors_before = report_.error_count();
  const std::string version = text_in(document, "apiVersion");
  if (version != "batch/v1" && version != "batch/v1beta1") {
    error(document, "apiVersion", "the apiVersion of a CronJob is batch/v1, not " + quoted(version));
  }
  const Node* metadata = document.find("metadata");
  const Node* from = document.find("spec");
  if (metadata == nullptr || text_in(*metadata, "name").empty()) {
    error(document, "metadata.name", "the CronJob has no metadata.name");
  }
  if (from == nullptr || from->as<Node::Map>() == nullptr) {
    return error(document, "spec", "the CronJob has no spec");
  }
  if (metadata == nullptr) return;
  Node::Map spec;
  zone_ = {};
  put_timing(spec, *from);
  put_history(spec, *from);
  const Node* job_template = from->find("jobTemplate");
  if (job_template == nullptr) {
    error(*from, "jobTemplate", "the CronJob has no spec.jobTemplate");
  } else {
    put(spec, "jobTemplate", *job_template);
    look_at_template(*job_template);
  }
  for (const Node::Member& member : *from->as<Node::Map>()) {
    if (!has(kKnownSpec, member.key)) {
      note(member.position, member.key, "spec." + member.key + " is not carried over: a KronJob has no such field");
    }
  }
  if (report_.error_count() != errors_before) return;
  Node::Map kron_job;
  put(kron_job, "apiVersion", text_node("kron.io/v1alpha1"));
  put(kron_job, "kind", text_node("KronJob"));
  put(kron_job, "metadata", metadata_of(*metadata));
  put(kron_job, "spec", Node(std::move(spec)));
  kron_jobs.emplace_back(std::move(kron_job));
}

void Importer::put_history(Node::Map& spec, const Node& from) {
  for (const std::string_view key : {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"}) {
    const Node* limit = from.find(key);
    if (limit == nullptr || limit->is_null()) continue;
    const auto* number = limit->as<std::int64_t>();
    if (number != nullptr && *number > kMostHistory) {
      note(limit->position(), key,
           std::string(key) + ": a KronJob keeps at most " + std::to_string(kMostHistory) +
               " Jobs; carried over as that");
      put(spec, key, Node(kMostHistory));
    } else {
      put(spec, key, *limit);
    }
  }
}

void Importer::look_at_template(const Node& job_template) {
  const Node* spec = job_template.find("spec");
  for (const std::string_view key : {"suspend", "managedBy"}) {
    const Node* found = spec != nullptr ? spec->find(key) : nullptr;
    const auto* flag = found != nullptr ? found->as<bool>() : nullptr;
    if (found == nullptr || found->is_null() || (flag != nullptr && !*flag)) continue;
    note(found->position(), "jobTemplate.spec." + std::string(key),
         "the template's " + std::string(key) +
             " leaves it to another to start the Jobs: a period runs at most once only while nobody deletes a Job "
             "before "
             "it is recorded");
  }
}

Node Importer::metadata_of(const Node& metadata) {
  Node::Map kept;
  for (const Node::Member& member : *metadata.as<Node::Map>()) {
    if (member.key == "annotations") {
      Node annotations = annotations_of(member.value);
      if (const auto* map = annotations.as<Node::Map>(); map != nullptr && !map->empty()) {
        put(kept, member.key, std::move(annotations));
      }
    } else if (has(kKeptMetadata, member.key)) {
      put(kept, member.key, member.value);
    } else if (!has(kServerSet, member.key)) {
      note(member.position, member.key, "metadata." + member.key + " is not carried over");
    }
  }
  return Node(std::move(kept));
}

// kubectl's memory of the CronJob would make it see differences in the KronJob for ever.
Node Importer::annotations_of(const Node& annotations) {
  Node::Map kept;
  if (const auto* map = annotations.as<Node::Map>()) {
    for (const Node::Member& member : *map) {
      if (member.key != kLastApplied) kept.push_back(member);
    }
  }
  return Node(std::move(kept));
}

void Importer::put_timing(Node::Map& spec, const Node& from) {
  const std::string schedule = schedule_and_zone(spec, from);
  const Node* at = from.find("schedule");
  if (schedule.empty()) return error(from, "schedule", "the CronJob has no spec.schedule");
  // Any identity will do: a CronJob's schedule has no H.
  const Result<Schedule> parsed = parse_schedule(schedule, "cronjob");
  if (!parsed) {
    const auto& [code, message, field, column] = parsed.error();
    const bool names_field = field.empty() || message.starts_with(field + ":");
    return error(*at, "schedule", "schedule: " + (names_field ? "" : field + ": ") + message);
  }
  if (parsed->kind == Schedule::Kind::every) {
    note(at->position(), "schedule",
         "a CronJob counts @every from its creation, a KronJob from 1970-01-01T00:00:00Z: the phase changes");
  }
  look_at_days(schedule, at->position());
  look_at_clock(*parsed, at->position());
  put(spec, "policy", policy_of(from));
}

// `CRON_TZ=…` before the fields was understood by older servers.
std::string Importer::schedule_and_zone(Node::Map& spec, const Node& from) {
  std::string schedule(trimmed(text_in(from, "schedule")));
  std::string zone = text_in(from, "timeZone");
  for (const std::string_view prefix : {"CRON_TZ=", "TZ="}) {
    if (!schedule.starts_with(prefix)) continue;
    const std::size_t end = std::min(schedule.find(' '), schedule.size());
    if (zone.empty()) zone = schedule.substr(prefix.size(), end - prefix.size());
    schedule = trimmed(std::string_view(schedule).substr(end));
  }
  if (schedule.empty()) return schedule;
  put(spec, "schedule", text_node(schedule));
  if (zone.empty()) {
    note(from.position(), "timeZone",
         "without timeZone a CronJob follows the controller's clock, mostly UTC; the KronJob is in UTC",
         "set timezone if your controller's is another");
    return schedule;
  }
  take_zone(spec, from, zone);
  return schedule;
}

void Importer::take_zone(Node::Map& spec, const Node& from, const std::string& zone) {
  const Node* at = from.find("timeZone");
  put(spec, "timezone", text_node(zone));
  const Result<TimeZone> known = zones_.find(zone);
  if (known) {
    zone_ = *known;
    return;
  }
  const std::string near = nearest_zone(zone);
  error(at != nullptr ? *at : from, "timeZone", "timeZone: " + known.error().message,
        near.empty() ? "" : "did you mean " + near + "?");
}

// Where the rules for daylight saving differ, and only then.
void Importer::look_at_clock(const Schedule& schedule, Position at) {
  if (zone_.segments().size() == 1) return;
  look_at_gaps(schedule, at);
  look_at_overlaps(schedule, at);
}

std::optional<std::string> Importer::first_effect(const Schedule& schedule, DstEffect::Kind kind) const {
  constexpr auto kLookAhead = std::chrono::duration_cast<Seconds>(std::chrono::years(5));
  Job job;
  job.schedule = schedule;
  job.zone = zone_;
  const Instant until = now_ ? std::min(*now_ + kLookAhead, kLastInstant) : kLastInstant;
  const std::vector<DstEffect> effects = dst_effects(job, now_.value_or(kFirstInstant), until);
  const auto found = std::ranges::find(effects, kind, &DstEffect::kind);
  if (found == effects.end()) return std::nullopt;
  const CivilTime& first = found->local;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d", first.year, first.month, first.day, first.hour,
                first.minute);
  return text.data();
}

void Importer::look_at_gaps(const Schedule& schedule, Position at) {
  const auto moved = first_effect(schedule, DstEffect::Kind::moved);
  if (!moved) return note(at, "timeZone", "no time of this schedule is in a gap of the clock in " + zone_.name());
  note(at, "timeZone",
       "the clock in " + zone_.name() + " skips " + *moved +
           ": a CronJob leaves that run out, a KronJob runs after the gap",
       "add dst: gap=skip to keep it as it was");
}

// A CronJob takes a time that comes twice for two.
void Importer::look_at_overlaps(Schedule schedule, Position at) {
  if (schedule.dst.overlap == DstRule::Overlap::both) return;
  schedule.dst.overlap = DstRule::Overlap::both;
  const auto doubled = first_effect(schedule, DstEffect::Kind::doubled);
  if (!doubled) return;
  note(at, "timeZone",
       "the clock in " + zone_.name() + " shows " + *doubled + " twice: a CronJob runs both times, a KronJob once",
       "add dst: overlap=both to keep it as it was");
}

// Kubernetes takes `*/2` in a day field for a restriction, Vixie's cron and Kron for a star: with the other field
// restricted, one means "or", the other "and".
void Importer::look_at_days(std::string_view schedule, Position at) {
  std::array<std::string_view, 5> fields;
  std::size_t count = 0;
  while (!schedule.empty() && count < fields.size()) {
    const std::size_t end = std::min(schedule.find(' '), schedule.size());
    if (end != 0) fields[count++] = schedule.substr(0, end);
    schedule.remove_prefix(std::min(end + 1, schedule.size()));
  }
  if (count != fields.size()) return;
  const auto is_free = [](std::string_view field) { return field == "*" || field == "?"; };
  const std::string_view date = fields[2];
  const std::string_view weekday = fields[4];
  if (is_free(date) || is_free(weekday) || (!date.starts_with("*/") && !weekday.starts_with("*/"))) return;
  note(at, "schedule",
       "Kubernetes runs on days that match either day field, a KronJob on days that match both, as one begins with */",
       "write the stepped field as a list, such as 1-31/2");
}

Node Importer::policy_of(const Node& from) {
  Node::Map policy;
  const std::string concurrency = text_in(from, "concurrencyPolicy");
  if (concurrency.empty() || concurrency == "Allow" || concurrency == "Forbid" || concurrency == "Replace") {
    put(policy, "concurrency", text_node(concurrency.empty() ? "allow" : lower(concurrency)));
  } else {
    error(*from.find("concurrencyPolicy"), "concurrencyPolicy",
          "concurrencyPolicy must be Allow, Forbid or Replace, not " + quoted(concurrency));
  }
  const Node* deadline = from.find("startingDeadlineSeconds");
  const auto* seconds = deadline != nullptr ? deadline->as<std::int64_t>() : nullptr;
  if (deadline == nullptr || deadline->is_null()) {
    put(policy, "deadline", text_node(kNoDeadline));
    note(from.position(), "startingDeadlineSeconds",
         "without startingDeadlineSeconds a late run starts however late it is; carried over as a deadline of " +
             std::string(kNoDeadline));
  } else if (seconds == nullptr || *seconds < 0 || *seconds > std::int64_t{1} << 31) {
    error(*deadline, "startingDeadlineSeconds", "startingDeadlineSeconds must be a number of seconds, 0 or more");
  } else {
    put(policy, "deadline", text_node(duration_text(Seconds(*seconds))));
    if (*seconds < kTakeOver.count()) {
      note(deadline->position(), "startingDeadlineSeconds",
           "a deadline under " + duration_text(kTakeOver) + " can miss a period when the leader of the operator dies",
           "allow for a take-over: deadline: 1m");
    }
  }
  if (const Node* suspend = from.find("suspend"); suspend != nullptr && suspend->as<bool>() != nullptr) {
    if (*suspend->as<bool>()) put(policy, "suspend", *suspend);
  }
  return Node(std::move(policy));
}

}  // namespace

std::vector<Node> import_cronjobs(std::string_view yaml, ZoneDatabase& zones, Report& report,
                                  std::optional<Instant> now) {
  Importer importer(zones, report, now);
  for (const Node& document : parse_yaml(yaml, report)) importer.take(document);
  if (importer.kron_jobs.empty() && report.error_count() == 0) {
    report.error({}, "", "there is no CronJob in it", "give the manifest of a CronJob, or a List of them");
  }
  return std::move(importer.kron_jobs);
}

}  // namespace kron::jobs
