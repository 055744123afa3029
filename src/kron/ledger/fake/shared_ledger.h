#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kron/ledger/ledger.h"

namespace kron::testing {

// What several daemons share: the memory of a server that knows one record of each job, replaced only by a step that
// was judged by its last revision. It also keeps what no server would: every outcome there ever was.
class SharedRecords {
 public:
  struct Record {
    std::uint64_t revision = 0;
    JobState periods;
    std::string last_boot_id;
    std::map<std::string, std::vector<ActiveExecution>> active;  // by host
    std::map<Instant, Outcome> outcomes;
    std::vector<HistoryEntry> history;
    std::string lock;  // the name of its lock; empty: none
  };

  Record& at(std::string_view identity) { return records_[std::string(identity)]; }

  // A record that another daemon has written, or that has lost its last writes.
  void put_periods(std::string_view identity, JobState periods);

  // Who may run this, and nobody else; none when nobody has asked.
  [[nodiscard]] const std::string* host_of(const std::string& run_id) const {
    const auto known = hosts_.find(run_id);
    return known == hosts_.end() ? nullptr : &known->second;
  }

  // A server that takes every step, to see that it is noticed.
  bool takes_all = false;

  // A period that has a second outcome; empty when there is none.
  [[nodiscard]] const std::string& violation() const { return violation_; }

 private:
  friend class SharedLedger;

  std::uint64_t next_revision_ = 1;
  std::map<std::string, Record> records_;
  std::map<std::string, std::string> hosts_;  // of runs, for ever
  std::map<std::string, std::string> locks_;  // by name: the run that has it
  std::string violation_;
};

// One daemon's way to the shared records. It gives every answer that a ledger may give: newer, held and ran as the
// records have it, and each of the six when a test wants it. Virtual time, one thread.
class SharedLedger : public Ledger {
 public:
  // Both outlive it.
  SharedLedger(SharedRecords& records, std::string host) : records_(records), host_(std::move(host)) {}

  Result<std::vector<KnownJob>> load(std::span<const std::string> identities, Instant now) override;
  Result<KnownJob> reset(std::string_view identity, Instant now, std::string_view boot_id) override;
  Result<bool> has_run(std::string_view identity, std::string_view run_id) override;
  std::vector<Written> write(std::span<const LedgerStep> steps) override;
  const std::optional<Error>& broken() const override { return broken_; }

  // Asked before a step is written: an answer given here is all that becomes of it.
  std::function<std::optional<Written>(const LedgerStep&)> instead = {};
  // Asked once it is written: true when the answer is lost.
  std::function<bool(const LedgerStep&)> loses_answer = {};
  std::function<void()> before_batch = {};

  std::map<Written::How, std::size_t> answers;  // how often each was given
  std::vector<std::size_t> batches;             // how many steps each had

 private:
  Written write(const LedgerStep& step);
  std::optional<Written> refusal(const LedgerStep& step, const SharedRecords::Record& record) const;
  void apply_to(SharedRecords::Record& record, const LedgerStep& step);
  void note_outcome(SharedRecords::Record& record, const LedgerStep& step, Instant period, Outcome outcome);
  void end_never_ran(SharedRecords::Record& record, const LedgerStep& step);

  SharedRecords& records_;
  std::string host_;
  std::map<std::string, std::uint64_t, std::less<>> revisions_;  // by identity: the last that this daemon was told
  std::optional<Error> broken_;
};

}  // namespace kron::testing
