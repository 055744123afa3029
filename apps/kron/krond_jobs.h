#pragma once

#include <map>
#include <string>

#include "files.h"
#include "kron/forecast/load_profile.h"
#include "kron/json/document.h"
#include "operate_verbs.h"

namespace kron::cli {

// The jobs among which a verb looks for `job`: those of the files, or, when none are named, the one that krond has.
// Fails when krond does not answer, or has no such job.
Result<ReadJobs> jobs_asked_for(const SourceOptions& files, const DaemonOptions& krond, const std::string& job,
                                ZoneDatabase& zones);

// What else decides about a job that krond has, beside its definition.
struct KrondTerms {
  Seconds catch_up_spread{0};   // of jobs whose policy does not say it
  std::size_t max_running = 0;  // 0: any number
};
Result<KrondTerms> terms_of_krond(const DaemonOptions& krond);

// All jobs that krond has, but for those of which nothing starts: `held` are paused or suspended, and `not_told` have a
// definition that no job file could have. Fails when krond does not answer.
struct ToldJobs {
  ReadJobs read;
  std::size_t held = 0;
  std::size_t not_told = 0;
  std::map<std::string, Seconds> usual = {};  // how long a run of the job takes, as far as that is known
};
Result<ToldJobs> jobs_of_krond(const DaemonOptions& krond, ZoneDatabase& zones);

// A load profile as krond told it, with jobs of which only the names are known.
struct ToldLoad {
  LoadProfile profile;
  std::vector<jobs::JobDefinition> jobs;
};
// Code internal when the document is none.
Result<ToldLoad> told_load(const Node& document);
// Of all jobs that krond has.
Result<ToldLoad> load_of_krond(const DaemonOptions& krond, const LoadQuestion& question);

}  // namespace kron::cli
