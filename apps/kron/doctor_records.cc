#include "doctor.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/ledger/record_facts.h"
#include "kron/ledger/state_listing.h"
#include "kron/state/time_ahead.h"
#include "terminal.h"

namespace kron::cli {
namespace {

constexpr char kRecords[] = "state";
// The first of many say enough; `kron state list` tells the rest.
constexpr std::size_t kMostRecordsShown = 10;

class RecordExamination {
 public:
  RecordExamination(const ConfiguredJobs& jobs, Instant now, Findings& findings)
      : jobs_(jobs), now_(now), findings_(findings) {}

  void look_at(const Sha256& hash, const RecordFacts& facts) {
    const auto job = jobs_.find(hash);
    const bool is_configured = job != jobs_.end();
    const std::string name = is_configured ? job->second.identity : facts.identity;
    if (facts.fault != RecordFault::none) return tell_fault(facts, name);
    // What became of a job that is gone does not matter, and how far its window reached is not known.
    if (!is_configured) return;
    const auto ahead = time_ahead_in(*facts.record, now_, job->second.reach);
    if (!ahead || ++found_ > kMostRecordsShown) return;
    add(Verdict::warning,
        "the record of " + quoted(name, 200) + " is from the future: it knows of " + rfc3339(*ahead) +
            ", and until then its job may not run",
        "see that the clock is right, then " + reset_of(name));
  }

  std::size_t sum_up(std::size_t records) {
    if (found_ > kMostRecordsShown) {
      add(Verdict::warning, counted(found_ - kMostRecordsShown, "more record") + " not valid",
          "`kron state list` shows them");
    } else if (found_ == 0 && records > 0) {
      findings_.push_back({Verdict::ok, kRecords, counted(records, "valid record")});
    }
    return found_;
  }

 private:
  static std::string reset_of(const std::string& name) {
    return name.empty() ? "`kron state reset` of its job, or remove it" : "`kron state reset " + name + "`";
  }

  void add(Verdict verdict, std::string what, std::string cure) {
    findings_.push_back({verdict, kRecords, std::move(what), std::move(cure)});
  }

  void tell_fault(const RecordFacts& facts, const std::string& name) {
    if (++found_ > kMostRecordsShown) return;
    const std::string record =
        (name.empty() ? "the record" : "the record of " + quoted(name, 200)) + " (" + facts.file + ") ";
    switch (facts.fault) {
      case RecordFault::damaged:
        return add(Verdict::problem, record + "is damaged: " + facts.reason,
                   reset_of(name) + "; krond does the same when it starts, and sets the file aside");
      case RecordFault::too_large:
        return add(Verdict::problem, record + "is too large, so its job is not scheduled: " + facts.reason,
                   reset_of(name) + "; the file is set aside");
      case RecordFault::other_version:
        return add(Verdict::problem, record + "is of another version, so krond does not start: " + facts.reason,
                   "or " + reset_of(name) + ": what it says was handled is then forgotten");
      case RecordFault::unreadable:
        return add(Verdict::problem, record + "cannot be read: " + facts.reason, "ask as root, or as krond's user");
      case RecordFault::none:
        return;
    }
  }

  const ConfiguredJobs& jobs_;
  Instant now_;
  Findings& findings_;
  std::size_t found_ = 0;
};

}  // namespace

std::size_t examine_records(Directory& directory, const ConfiguredJobs& jobs, Instant now, Findings& findings) {
  const auto listing = list_state(directory);
  if (!listing) return 0;
  RecordExamination examination(jobs, now, findings);
  for (const Sha256& hash : listing->records) {
    if (const auto facts = look_at_record(directory, hash)) examination.look_at(hash, *facts);
  }
  return examination.sum_up(listing->records.size());
}

}  // namespace kron::cli
