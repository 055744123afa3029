#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/cluster/keys.h"
#include "kron/env/redis_connection.h"
#include "kron/queue/task.h"

// Every script as a value: its arguments -> a command, and its reply -> an answer. Pure; what each does and in which
// order it checks is said in scripts/*.lua. Every one is safe to repeat. parse() gives an error (io) for a reply that
// is not of that script.
namespace kron::cluster {

// What every answer begins with.
struct Heading {
  std::string word;
  Nanoseconds time{0};                 // Redis's TIME, since the epoch
  std::string stamp = {};              // the same as "sec.usec", six digits
  std::optional<std::uint64_t> fence;  // the greatest fencing token that was granted; none: not looked at

  [[nodiscard]] Instant second() const { return Instant(std::chrono::floor<Seconds>(time)); }
};
// None: it is no answer of a script.
std::optional<Heading> heading_of(const RedisValue& value);
std::optional<Heading> heading_of(const RedisReply& reply);

// step: what is to be so of a job, if its record has the revision that this was judged by.
struct StepCall {
  struct Start {
    std::string run_id;
    std::string blob_head;             // of rundata, up to and without the start time …
    std::string blob_tail;             // … and what follows it
    std::optional<NewTask> task = {};  // checked; it is submitted, and the run is over: the blob is that of its end
  };

  std::string field;
  std::string owner;
  std::optional<std::uint64_t> revision;     // none: a trigger, which neither compares nor writes the record
  std::string record;                        // the text after the revision: `,"Version":…}`
  std::optional<Instant> chosen = {};        // the greatest of its starts
  std::optional<Instant> grant_until = {};   // no start later than this
  std::optional<Instant> missed_after = {};  // its `missed` is true only later than this
  std::string job;                           // its name
  bool asks_paused = true;                   // refused while the job is paused
  std::string lock_key = {};                 // empty: no lock
  Nanoseconds ttl{0};
  bool closing_is_held = false;               // a trigger without an id
  std::optional<Instant> foreign_since = {};  // cronken dialect: the chosen time; a run of cronken from then on is it
  std::uint64_t outcomes_cap = 100'000;
  std::vector<Start> starts = {};          // all with a task, or none
  std::vector<std::string> outcomes = {};  // texts (outcome_text.h)
  // Of starts with tasks.
  Nanoseconds least_hold{0};  // the lock counts as held for so long
  std::uint64_t general_cap = 10'000;
  std::uint64_t job_cap = 1'000;
  Seconds ageing{60};

  [[nodiscard]] bool has_tasks() const { return !starts.empty() && starts.front().task.has_value(); }
  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct StepAnswer {
  enum class Word : std::uint8_t { ok, again, newer, gone, corrupt, early, late, paused, known, held };
  struct Granted {
    std::uint64_t fence = 0;
    std::string start_time;    // "sec.usec"
    std::string outcome = {};  // of submitting its task (name_of(SubmitOutcome))
  };

  Heading heading;
  Word word = Word::ok;
  std::optional<std::uint64_t> revision = {};  // ok, of a step with one
  std::string record = {};                     // again (may be empty), newer, corrupt: what stands there now
  std::vector<Granted> granted = {};           // ok, again: one for each start
  std::string run_id = {};                     // known: which; held: the lock's token, as it stands
  Nanoseconds held_for{0};                     // held: until the lock lapses

  // `has_tasks` as of the call.
  static Result<StepAnswer> parse(const RedisValue& value, bool has_tasks = false);
};

// end: the end of a run.
struct EndCall {
  std::string run_id;
  std::string job;
  std::string start_time;
  std::string status;     // "success" or "fail": whose results (frozen goes to fail)
  std::string blob_head;  // of rundata, up to and without the duration …
  std::string blob_tail;  // … and what follows it
  std::uint64_t general_cap = 10'000;
  std::uint64_t job_cap = 1'000;
  std::string lock_key = {};                  // empty: none; its token is the run id
  Nanoseconds least_hold{0};                  // since the start
  std::optional<Seconds> only_if_older = {};  // the reaper's: only when the heartbeat is older than this
  std::string outcome = {};                   // text (outcome_text.h); empty: none
  std::uint64_t outcomes_cap = 100'000;
  Seconds output_ttl{86'400};
  bool output_is_list = false;    // cronken dialect
  std::uint64_t lines_there = 0;  // of output, before these
  std::vector<std::string> lines = {};

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct EndAnswer {
  enum class Word : std::uint8_t {
    ended,
    over,   // it was not active: ended before, frozen, or never claimed; its lock is free all the same
    alive,  // its heartbeat is not that old; nothing was done
  };
  Heading heading;
  Word word = Word::ended;

  static Result<EndAnswer> parse(const RedisValue& value);
};

// keep: heartbeats of runs and renewals of locks, at most 250 runs a call.
struct KeepCall {
  struct Lock {
    std::string key;
    std::string run_id;
    Nanoseconds ttl{0};
  };
  std::vector<std::string> runs;
  std::vector<Lock> locks = {};

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct KeepAnswer {
  Heading heading;
  std::vector<std::string> gone = {};  // runs that are not active any more
  std::vector<std::string> lost = {};  // runs whose lock is not theirs any more

  static Result<KeepAnswer> parse(const RedisValue& value);
};

// push: lines of output, at most 500 and 64 KiB or so a call.
struct PushCall {
  std::string run_id;
  std::uint64_t lines_there = 0;
  Seconds output_ttl{86'400};
  bool output_is_list = false;
  std::vector<std::string> lines;

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct PushAnswer {
  Heading heading;
  bool is_gap = false;            // fewer lines are there than was thought: `lines_there`; nothing was written
  std::uint64_t lines_there = 0;  // now

  static Result<PushAnswer> parse(const RedisValue& value);
};

// define: compare-and-set of a definition's text, and of the paused set with it.
struct DefineCall {
  std::string job;
  std::string read;
  std::string wanted;
  std::optional<bool> paused = {};  // none: the set stays as it is

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct DefineAnswer {
  enum class Word : std::uint8_t {
    ok,
    same,     // it was there already
    changed,  // somebody else wrote `text`; nothing was done
    gone,     // there is no such job; nothing was done
  };
  Heading heading;
  Word word = Word::ok;
  std::string text = {};

  static Result<DefineAnswer> parse(const RedisValue& value);
};

// stale_runs: runs whose heartbeat is older than `age`, and their blobs.
struct StaleRunsCall {
  Seconds age{45};
  std::uint64_t most = 100;

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct StaleRunsAnswer {
  Heading heading;
  std::vector<std::pair<std::string, std::string>> runs = {};  // run id, blob

  static Result<StaleRunsAnswer> parse(const RedisValue& value);
};

// sweep: claims of runs that are no longer active, a page at a time.
struct SweepCall {
  std::string cursor = "0";
  std::uint64_t count = 200;

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct SweepAnswer {
  Heading heading;
  std::string cursor = {};  // "0": that was the last page
  std::uint64_t swept = 0;

  static Result<SweepAnswer> parse(const RedisValue& value);
};

// raise: the fencing counter is not below what a host has seen.
struct RaiseCall {
  static constexpr std::uint64_t kJump = 1'000'000;

  std::uint64_t seen = 0;
  std::uint64_t outcomes_cap = 100'000;
  std::string outcome = {};  // text that tells of lost writes

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct RaiseAnswer {
  Heading heading;
  std::optional<std::uint64_t> lost_at = {};  // writes were lost: the counter was this

  static Result<RaiseAnswer> parse(const RedisValue& value);
};

// make: the record of a job that has none.
struct MakeCall {
  std::string field;
  std::string record;  // after the revision
  Instant first_seen;  // as in the record

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct MakeAnswer {
  enum class Word : std::uint8_t { made, there, early };
  Heading heading;
  Word word = Word::made;
  std::uint64_t revision = 0;  // made
  std::string record = {};     // there

  static Result<MakeAnswer> parse(const RedisValue& value);
};

// restore: a record is put back or replaced by what a host knows.
struct RestoreCall {
  enum class Expect : std::uint8_t { absent, revision, text };
  std::string field;
  std::string record;       // after the revision
  std::uint64_t above = 0;  // the new revision is greater than this
  Expect expect = Expect::absent;
  std::string expected = {};
  std::string move_to = {};  // field for what is there now

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct RestoreAnswer {
  enum class Word : std::uint8_t { done, newer, corrupt, gone };
  Heading heading;
  Word word = Word::done;
  std::uint64_t revision = 0;  // done
  std::string record = {};     // newer, corrupt: what is there

  static Result<RestoreAnswer> parse(const RedisValue& value);
};

// join: takes an instance name, or keeps it: the heartbeat of a host.
struct JoinCall {
  std::string host;
  std::string owner;
  std::string instance = {};  // that it has now; empty: none yet
  Seconds free_after{45};
  std::string head;         // the entry before its heartbeat: `{"owner":"…",…,"beat":` …
  std::string tail = "}";   // … and after it
  std::string member = {};  // of :instances, which gets the heartbeat too; empty: none

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct JoinAnswer {
  Heading heading;
  std::string instance = {};  // empty: a thousand others have the host's name

  static Result<JoinAnswer> parse(const RedisValue& value);
};

// leave: gives an instance name up.
struct LeaveCall {
  std::string host;
  std::string owner;
  std::string instance;
  std::string member = {};

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct LeaveAnswer {
  Heading heading;
  bool was_ours = true;

  static Result<LeaveAnswer> parse(const RedisValue& value);
};

// assert: a run goes on; what Redis knew of it is written again, because writes were lost.
struct AssertCall {
  std::string run_id;
  std::string owner;
  std::uint64_t fence = 0;
  std::string start_time;
  std::string blob;           // of the running run, whole
  std::string lock_key = {};  // empty: none
  Nanoseconds ttl{0};

  [[nodiscard]] RedisCommand command(const Keys& keys) const;
};
struct AssertAnswer {
  enum class Word : std::uint8_t {
    ok,
    over,   // it ended, or was frozen
    taken,  // another run, `holder`, has its lock; nothing was written
  };
  Heading heading;
  Word word = Word::ok;
  std::string holder = {};

  static Result<AssertAnswer> parse(const RedisValue& value);
};

// The revision at the beginning of a record's text; none: it is no record.
std::optional<std::uint64_t> revision_of(std::string_view record);

}  // namespace kron::cluster
