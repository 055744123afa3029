#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/cluster/job_terms.h"
#include "kron/cluster/signature.h"
#include "kron/core/time_zone.h"
#include "kron/jobs/definition.h"

// From the texts of `:jobs` to definitions. Pure, and for any thread: a hundred thousand take seconds.
namespace kron::cluster {

struct JobTexts {
  std::map<std::string, std::string, std::less<>> definitions;  // `:jobs`
  std::set<std::string, std::less<>> paused = {};               // `:jobs:paused`
  Instant read_at = {};                                         // when the reading began, by the cluster's clock
  std::string zone = {};                                        // of `:kron:cluster`; empty: not known
};

struct JobRules {
  ZoneDatabase& zones;
  TimeZone zone = {};      // the cluster's: of definitions that name none
  std::string name_space;  // of the keys; signatures are bound to it
  SignatureRules signatures = {};
  std::string shell = "/bin/sh";  // what commands are run by
  // Else jobs that submit a task are refused, because a claim cannot submit to one host's files, and jobs that tell
  // somebody: their record is shared, so that every host would put the message into a queue of its own.
  bool tasks_in_redis = true;
};

// One definition.
struct ReadJob {
  std::optional<jobs::JobDefinition> definition = {};  // none: refused; suspended when it is paused
  JobTerms terms = {};
  std::string errors = {};                 // why it is refused: what validation_errors says; empty: it is not
  std::vector<std::string> warnings = {};  // it runs, and probably not as its author wants
  std::optional<bool> is_paused = {};      // what job_state says; none: it cannot be told
};
ReadJob read_cluster_job(const std::string& name, std::string_view text, const JobRules& rules, Instant read_at);

// A change of a definition and of the set of paused jobs, to be made in one script, if the definition is still
// `before`.
struct DefinitionEdit {
  enum class Set : std::uint8_t { leave, add, remove };

  std::string name;
  std::string before;
  std::string after;
  Set set = Set::leave;

  bool operator==(const DefinitionEdit&) const = default;
};

struct JobReading {
  struct Remark {
    std::string name;
    std::string text;
  };

  std::vector<jobs::JobDefinition> definitions;  // by name
  JobTermsTable::Map terms;
  std::vector<Remark> refused;
  std::vector<Remark> warnings;
  // What the definitions say and the set or validation_errors do not: job_state.paused wins over the set; errors are
  // noted where none are noted yet, and never taken away.
  std::vector<DefinitionEdit> edits;
};
JobReading read_jobs(const JobTexts& texts, const JobRules& rules);

// What `validate` does to this definition: its errors are noted, or taken away. Nothing: it is right as it is, or it
// cannot be edited.
std::optional<DefinitionEdit> validation_edit(const std::string& name, const std::string& text, const JobRules& rules);

}  // namespace kron::cluster
