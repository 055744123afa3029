#pragma once

#include <cstdint>
#include <string>

#include "kron/base/result.h"
#include "kron/core/schedule.h"
#include "kron/core/time_zone.h"
#include "kron/jobs/definition.h"
#include "kron/json/document.h"

// Definitions as a cluster keeps them, made of something else. Pure.
namespace kron::cli {

struct NewDefinition {
  std::string cron;          // a cronstring: 0 is Monday
  std::string command = {};  // or, when it is empty:
  std::string task = {};     // the type of a task, and its data
  std::string data = {};     // JSON; empty: none
  std::string lock = {};     // empty: the job's name
  bool is_locked = true;
  std::int64_t ttl = 60;
};
std::string definition_text(const NewDefinition& definition);

// The schedule in cronken's words (cron_args), which have other weekday numbers than cron and join day and weekday by
// AND. Invalid: they have no words for it.
Result<Node> cron_args_of(const Schedule& schedule);

struct ImportTerms {
  bool is_locked = true;
  std::int64_t ttl = 60;
};
// A job of a job file or crontab as a cluster's definition, which is the same job: what a host reads in it has the same
// periods, chosen times and rules, and the command is executed the same way. Invalid: a cluster cannot say that; the
// message says what. Not for definitions that are cronken's already.
Result<std::string> cluster_text(const jobs::JobDefinition& definition, const ImportTerms& terms, ZoneDatabase& zones);

}  // namespace kron::cli
