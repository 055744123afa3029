#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/core/cron_args.h"
#include "kron/jobs/definition.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

class CalendarFiles;

// The name of a definition that was refused, and its place: another job of that name is worth saying all the same.
struct RefusedName {
  std::string name;
  std::shared_ptr<const std::string> file;
  std::uint32_t line = 0;
};

// A pool as `pools` of a file says it.
struct PoolPlace {
  SlotPool pool;
  std::shared_ptr<const std::string> file;
  Position at;
};

// What a definition is read against. One for a whole file: definitions made with it share the file's name and equal
// options.
struct ModelContext {
  ZoneDatabase& zones;
  Spelling spelling = Spelling::yaml;
  std::shared_ptr<const std::string> file = std::make_shared<const std::string>();
  TimeZone zone = {};  // when no timezone is given
  struct {
    std::string problem;  // crontabs: why `zone` is not known; empty: it is
    std::string cure;
  } no_zone = {};
  bool free_names = false;    // any non-empty UTF-8 is a name (crontab, cronken, requests)
  bool is_clustered = false;  // cronken: the definition is one of a cluster
  bool needs_action = true;   // a command or a task must be given; requests that only decide have none
  // Crontabs: a word that is a user of this host and not a program; absent: nobody knows.
  std::function<bool(const std::string& word)> is_only_a_user = {};
  CalendarFiles* calendar_files = nullptr;     // where files of calendars are read; none: they are refused
  std::vector<std::string> unknown_keys = {};  // of the definition that is read next, refused by its spelling's reader
  std::vector<RefusedName> refused = {};       // filled by read_definition
  std::vector<PoolPlace> pools = {};           // filled by read_job_document
  OptionsPool pool = {};
};

// The one way from text to a JobDefinition: every spelling is turned into this shape first (the YAML model's keys).
// Reports every mistake; gives nothing when there was one since the report stood at `errors_before`.
// `cron_args`: the schedule and the zone come from there.
std::optional<JobDefinition> read_definition(const Node& node, ModelContext& context, Report& report,
                                             std::size_t errors_before, const CronArgs* cron_args = nullptr);

// A definition that comes alone, from a request: any identity, no action needed. The Error is the first mistake.
Result<JobDefinition> read_requested_definition(const Node& node, ZoneDatabase& zones);

// A document of the model: `jobs`, and optionally `defaults` and `calendars` for all of them, and `pools`.
std::vector<JobDefinition> read_job_document(const Node& document, ModelContext& context, Report& report);

// Back to the model's shape, canonical, defaults left out: read_definition gives the same definition. Fails for what
// the model cannot say (a cron_args schedule that is no cron expression, a crontab's command that is not UTF-8).
Result<Node> node_of(const JobDefinition& definition);

// The text of a scalar, booleans included; nothing for null, lists and maps.
std::optional<std::string> word_of(const Node& node);

}  // namespace kron::jobs
