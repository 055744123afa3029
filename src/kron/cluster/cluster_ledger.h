#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "kron/cluster/calls.h"
#include "kron/cluster/cluster_record.h"
#include "kron/cluster/dialect.h"
#include "kron/cluster/fence_watch.h"
#include "kron/cluster/grants.h"
#include "kron/cluster/job_terms.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/ledger/ledger.h"

namespace kron::cluster {

// The ledger that all hosts of a cluster share: one record per job in `:kron:state`, replaced only by a step that was
// judged by its last revision. That, and that no revision ever comes again, is why a period is run at most once. A step
// counts as judged by the record that its caller was given last, by load(), reset() or an answer; what this ledger has
// learned beside that is answered `newer`.
//
// What a step's answer means is in Written; beside that this ledger keeps what Redis may lose. It remembers the last
// revision and record of each job that it has read or written, never goes back behind them, and puts them back when
// they are gone. Durable means what Redis makes of it (docs/cluster.md).
//
// load, reset, has_run and write as by Ledger: by one thread at a time; each blocks for `timeout` at most, or a few
// times that for many jobs. The rest may be called from any thread.
class ClusterLedger : public Ledger {
 public:
  struct Options {
    std::string owner = {};  // of this host's claims
    std::string host = {};   // as rundata names it
    Dialect dialect = Dialect::seed;
    std::uint64_t outcomes_cap = 100'000;
    std::uint64_t general_cap = 10'000;
    std::uint64_t job_cap = 1'000;
    Seconds output_ttl{86'400};
    std::int64_t claim_replicas = 0;  // so many replicas must have a claim before its run starts
    Nanoseconds timeout = std::chrono::seconds(3);
    Nanoseconds replica_timeout = std::chrono::seconds(1);
    // After writes were lost, nothing is started for so long: every host says first what it knows.
    Nanoseconds settling = std::chrono::milliseconds(1500);
    std::size_t page = 500;  // records that are read by one command
  };

  // All but the functions outlive it. Functions may be left out.
  struct World {
    Link& link;
    const Keys& keys;
    const Clock& clock;  // the cluster's
    Log& log;
    Grants& grants;
    const JobTermsTable& terms;
    std::function<std::string()> instance = {};  // this host's name in the cluster; any thread
    // Runs of a job that this host has: from its claims.
    std::function<std::vector<ActiveExecution>(std::string_view identity)> active_of = {};
    // The definition of a job is to be read again: others go by another one, or it is paused. On any thread.
    std::function<void(const std::string& job)> read_again = {};
    std::function<void()> on_lost_write = {};          // for metrics; on any thread
    std::function<void(Written::How)> on_answer = {};  // likewise, of each step
    std::function<void(Nanoseconds)> wait = {};        // none: sleeps
  };

  ClusterLedger(World world, Options options);

  Result<std::vector<KnownJob>> load(std::span<const std::string> identities, Instant now) override;
  Result<KnownJob> reset(std::string_view identity, Instant now, std::string_view boot_id) override;
  Result<bool> has_run(std::string_view identity, std::string_view run_id) override;
  std::vector<Written> write(std::span<const LedgerStep> steps) override;
  const std::optional<Error>& broken() const override { return broken_; }  // never: Redis away is not broken

  // Reads the records of these jobs before load() asks for them, so that the loop need not wait: any thread. `terms`
  // are those that the jobs will have. The records may be old by then; a step that is judged by an old record is
  // answered `newer`.
  Status prefetch(std::span<const std::string> identities, const JobTermsTable::Map& terms, Instant now);

  // The server has lost writes: what this host knows of the last minute is asserted again. On the link's thread
  // (LinkThread::Listener::on_lost_writes).
  void assert_what_is_known(const FenceWatch::Lost& lost);

 private:
  // The last that was read or written of a job.
  struct Memory {
    std::string field;
    ClusterRecord record;
    std::uint64_t given = 0;  // revision of the record by which steps are judged: the last that was given to the caller
    Nanoseconds touched{0};   // boot time
    bool is_prefetched = false;
    std::string unusable = {};
    // The definition was asked to be read again because the record's schedule, of then, is not its.
    std::optional<ScheduleSeen> asked_for = {};
    bool is_left_to_others = false;
  };
  // A step on its way.
  struct Pending {
    std::size_t place = 0;
    const LedgerStep* step = nullptr;
    JobTerms terms;
    StepCall call;
    ClusterRecord record;   // as it will be; of a trigger, as it is
    bool was_lost = false;  // it was sent, and no answer came
  };
  // What is to be put right before a step can be repeated or answered.
  struct Mending {
    Pending pending;
    RestoreCall call;
    ClusterRecord record;
    bool repeats = false;  // the step, by the revision that comes; else it is answered `newer`
  };
  // What is left to be done for steps that were sent.
  struct Round {
    bool may_resend = true;
    std::vector<Mending> mendings;
    std::vector<Pending> lost;
    std::vector<Pending> again;
  };
  // How long a batch is tried.
  struct Patience {
    int mended = 0;
    int resent = 0;
    bool time_is_up = false;
  };
  // A record that is not there …
  struct Absent {
    std::string identity;
    std::string field;
  };
  // … or must be replaced by what is known.
  struct Restored {
    std::string identity;
    RestoreCall call;
    ClusterRecord record;
  };

  // cluster_ledger.cc: steps
  std::variant<Written, Pending> prepare(const LedgerStep& step, std::size_t place);
  std::optional<Written> refuse_other_definition(const LedgerStep& step, const JobTerms& terms);
  [[nodiscard]] Nanoseconds least_hold_of(const StartedRun& run) const;
  void fill_starts(Pending& pending);
  void fill_outcomes(Pending& pending);
  std::optional<Written> take(Pending& pending, const TimedReply& timed, Round& round);
  std::optional<Written> take_answer(Pending& pending, StepAnswer answer, const TimedReply& timed, Round& round);
  std::optional<Written> take_newer(Pending& pending, const std::string& text, Round& round);
  Written granted(Pending& pending, const StepAnswer& answer, const TimedReply& timed);
  void mend(std::vector<Mending> mendings, Round& round, std::vector<Written>& answers);
  void end_never_ran(const Pending& pending, std::string_view why);
  void wait_until_settled(const std::vector<Pending>& steps);
  void hold_back_unreplicated(const std::vector<Pending>& sent, const TimedReply& waited,
                              std::vector<Written>& answers);

  // How records are read.
  struct Reading {
    Instant now;
    bool is_beside = false;                     // of the scheduler: in small parts
    const JobTermsTable::Map* terms = nullptr;  // of the jobs; none: those in the table
  };

  // cluster_ledger_load.cc: records
  Status fetch(std::span<const std::string> identities, const Reading& reading);
  Status fetch_page(std::span<const std::string> identities, const Reading& reading);
  Status put_back(std::vector<Restored> restored);
  Status make_records(std::vector<Absent> absent, const Reading& reading);
  KnownJob known_job(const std::string& identity);
  [[nodiscard]] std::string field_of(std::string_view identity, const JobTerms& terms) const;
  [[nodiscard]] JobTerms terms_of(const std::string& identity) const;
  [[nodiscard]] std::string field_by(const std::string& identity, const Reading& reading) const;
  [[nodiscard]] ClusterRecord new_record(std::string_view identity, Instant first_seen) const;
  [[nodiscard]] RestoreCall restore(const std::string& field, const ClusterRecord& record,
                                    const std::string& found) const;
  void learn(const std::string& identity, const std::string& field, ClusterRecord record);
  void give(const std::string& identity, std::uint64_t revision);
  void report_lost_write(const std::string& identity, const ClusterRecord& seen, const ClusterRecord& found);
  void take_asserted(const Absent& one, const RedisValue& found);

  World world_;
  Options options_;
  std::optional<Error> broken_;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Memory> memory_;  // by identity; guarded
  Nanoseconds settled_at_{0};                       // boot time; guarded
};

}  // namespace kron::cluster
