#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kron/jobs/definition.h"
#include "kron/jobs/dst_effects.h"
#include "kron/jobs/problem.h"

// Warnings that many jobs of a file share are said once, with the number of jobs and the names of the first.
namespace kron::jobs {

class JobGroup {
 public:
  void add(const JobDefinition& definition);

  [[nodiscard]] std::size_t size() const { return count_; }
  // "'backup'", or "12 jobs (backup, report, sync …)".
  [[nodiscard]] std::string subject() const;
  // A problem at the place of the first job.
  [[nodiscard]] Problem problem(Severity severity, std::string_view field, const std::string& message,
                                std::string cure) const;

 private:
  std::size_t count_ = 0;
  const JobDefinition* first_ = nullptr;
  std::string names_;
};

// Jobs that changes of the clock move, drop or double in the next five years: one warning for each file, zone and kind
// of effect, with the exact dates.
class ClockChanges {
 public:
  void add(const JobDefinition& definition, Instant now);
  void say(std::vector<Problem>& problems) const;

 private:
  struct Touched {
    JobGroup jobs;
    std::vector<DstEffect> effects;  // of the first job
  };
  using Changes = std::vector<std::pair<DstEffect::Kind, Instant>>;
  std::map<std::tuple<std::string, std::string, Changes>, Touched> groups_;  // by file, zone and changes
};

// Jobs that may not start late and run so rarely that one lost period costs much: less often than daily a warning for
// each file, daily a note.
class CostlyDeadlines {
 public:
  void add(const JobDefinition& definition, Instant now);
  void say(std::vector<Problem>& problems, bool with_notes) const;

 private:
  struct OfFile {
    JobGroup rare;
    JobGroup daily;
  };
  std::map<std::string, OfFile> files_;
};

}  // namespace kron::jobs
