#include "kron/cluster/reaper.h"

#include <algorithm>
#include <array>

#include "kron/cluster/calls.h"
#include "kron/cluster/json_spans.h"
#include "kron/cluster/outcome_text.h"
#include "kron/cluster/replies.h"
#include "kron/cluster/rundata.h"
#include "kron/cluster/short_lock.h"
#include "kron/json/document.h"

namespace kron::cluster {
namespace {

constexpr Nanoseconds kReaperTimeout = std::chrono::seconds(5);
constexpr Nanoseconds kReaperLock = std::chrono::milliseconds(10'000);
constexpr std::uint64_t kRunsAtATime = 100;
constexpr int kMostRounds = 100;  // what is left is for the next pass
constexpr std::string_view kFrozen = "frozen: no heartbeat";

struct Stale {
  std::string run_id;
  RunData data;
  std::string others = {};  // members that are nobody's we know, each with a comma before it
  std::string output = {};
};

// What somebody else has put into a blob stays in it, as with cronken.
std::string members_of_others(std::string_view blob) {
  constexpr auto kOurs =
      std::to_array<std::string_view>({"host", "job_name", "start_time", "status", "retcode", "output", "duration"});
  std::string others;
  if (!parse_foreign_json(blob)) return others;
  const std::optional<ObjectSpan> object = object_at(blob);
  if (!object) return others;
  for (const MemberSpan& member : object->members) {
    if (std::ranges::find(kOurs, member.key) != kOurs.end()) continue;
    (others += ',') += blob.substr(member.key_begin, member.value_end - member.key_begin);
  }
  return others;
}

// A member of the output set stands for its line; equal lines end with NUL and a number (docs/formats.md).
std::string line_of(const std::string& member) {
  const std::size_t nul = member.rfind('\0');
  const bool is_numbered = nul != std::string::npos && nul + 1 < member.size() &&
                           member.find_first_not_of("0123456789", nul + 1) == std::string::npos;
  return (is_numbered ? member.substr(0, nul) : member) + "\n";
}

class Pass {
 public:
  Pass(Link& link, const Keys& keys, const Reaper::Options& options, Log& log)
      : link_(link), keys_(keys), options_(options), log_(log) {}

  Status freeze_stale_runs() {
    for (int round = 0; round < kMostRounds; ++round) {
      const StaleRunsCall call{.age = options_.stale, .most = kRunsAtATime};
      const Result<RedisValue> reply = ask(call.command(keys_));
      if (!reply) return fail(reply.error());
      const Result<StaleRunsAnswer> answer = StaleRunsAnswer::parse(*reply);
      if (!answer) return fail(answer.error());
      if (answer->runs.empty()) return {};
      if (Status frozen = freeze(answer->runs); !frozen) return frozen;
      if (answer->runs.size() < kRunsAtATime) return {};
    }
    return {};
  }

  Status sweep_claims() {
    SweepCall call;
    for (int page = 0; page < kMostRounds; ++page) {
      const Result<RedisValue> reply = ask(call.command(keys_));
      if (!reply) return fail(reply.error());
      Result<SweepAnswer> answer = SweepAnswer::parse(*reply);
      if (!answer) return fail(answer.error());
      call.cursor = std::move(answer->cursor);
      if (call.cursor == "0") break;
    }
    return {};
  }

  Reaper::Reaped reaped;

 private:
  Result<RedisValue> ask(RedisCommand command) {
    return value_of(std::move(link_.ask({std::move(command)}, kReaperTimeout).at(0).reply));
  }

  Status freeze(const std::vector<std::pair<std::string, std::string>>& runs) {
    std::vector<Stale> stale;
    for (const auto& [run_id, blob] : runs) {
      Result<RunData> data = parse_rundata(blob);
      if (data) {
        stale.push_back({run_id, *std::move(data), members_of_others(blob)});
        continue;
      }
      // Nobody can say whose it is; it must not stand in the way of the others for ever.
      log_.warning("cluster_run_unreadable", {{"runId", run_id}, {"reason", data.error().message}});
      if (const Result<RedisValue> removed = ask({"ZREM", keys_.active(), run_id}); !removed) {
        return fail(removed.error());
      }
    }
    if (Status read = read_output(stale); !read) return read;
    return end(stale);
  }

  // The last lines, as far as the run has delivered them. A foreign kind of output is none.
  Status read_output(std::vector<Stale>& runs) {
    const bool is_list = options_.dialect == Dialect::cronken;
    std::vector<RedisCommand> commands;
    for (const Stale& run : runs) {
      commands.push_back({is_list ? "LRANGE" : "ZRANGE", keys_.output(run.run_id),
                          std::to_string(-static_cast<std::int64_t>(options_.last_lines)), "-1"});
    }
    if (commands.empty() || options_.last_lines == 0) return {};
    std::vector<TimedReply> replies = link_.ask(std::move(commands), kReaperTimeout);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const RedisReply& reply = replies[i].reply;
      if (reply.how != RedisReply::How::reply && reply.how != RedisReply::How::error) {
        return fail(value_of(reply).error());
      }
      for (const RedisValue& line : reply.value.items) runs[i].output += is_list ? line.text : line_of(line.text);
    }
    return {};
  }

  Status end(const std::vector<Stale>& runs) {
    std::vector<RedisCommand> commands;
    for (const Stale& run : runs) commands.push_back(end_of(run).command(keys_));
    if (commands.empty()) return {};
    std::vector<TimedReply> replies = link_.ask(std::move(commands), kReaperTimeout);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Result<RedisValue> value = value_of(std::move(replies[i].reply));
      if (!value) return fail(value.error());
      const Result<EndAnswer> answer = EndAnswer::parse(*value);
      if (!answer) return fail(answer.error());
      note(runs[i], answer->word);
    }
    return {};
  }

  EndCall end_of(const Stale& run) const {
    BlobParts blob = final_blob(options_.dialect, {.host = run.data.host,
                                                   .job = run.data.job,
                                                   .start_time = run.data.start_time,
                                                   .status = RunStatus::frozen,
                                                   .output = run.output});
    blob.tail.insert(blob.tail.size() - 1, run.others);  // before its last brace
    EndCall call{.run_id = run.run_id,
                 .job = run.data.job,
                 .start_time = run.data.start_time,
                 .status = std::string(result_of(RunStatus::frozen)),
                 .blob_head = blob.head,
                 .blob_tail = blob.tail};
    call.general_cap = options_.general_results;
    call.job_cap = options_.results_of_a_job;
    call.only_if_older = options_.stale;
    call.outcome = print({.job = run.data.job,
                          .host = run.data.host,
                          .outcome = Outcome::executed,
                          .detail = std::string(kFrozen),
                          .run_id = run.run_id});
    call.outcomes_cap = options_.outcomes;
    call.output_is_list = options_.dialect == Dialect::cronken;
    return call;
  }

  void note(const Stale& run, EndAnswer::Word word) {
    if (word == EndAnswer::Word::alive) ++reaped.alive;
    if (word != EndAnswer::Word::ended) return;
    ++reaped.frozen;
    log_.warning("cluster_run_frozen", {{"identity", run.data.job}, {"runId", run.run_id}, {"host", run.data.host}});
  }

  Link& link_;
  const Keys& keys_;
  const Reaper::Options& options_;
  Log& log_;
};

}  // namespace

Reaper::Reaper(World world, Options options) : world_(std::move(world)), options_(options) {}

Reaper::~Reaper() = default;

Nanoseconds Reaper::tick(Nanoseconds now) {
  if (!next_) next_ = now + options_.cadence;
  if (now < *next_) return *next_;
  next_ = now + options_.cadence;
  if (is_busy_->exchange(true)) return *next_;
  const auto work = [link = &world_.link, keys = &world_.keys, log = &world_.log, options = options_,
                     is_busy = is_busy_] {
    const Result<Reaped> reaped = reap(*link, *keys, options, *log);
    if (!reaped) log->warning("cluster_reaper_failed", {{"reason", reaped.error().message}});
    *is_busy = false;
  };
  if (!world_.aside.run(work)) *is_busy_ = false;
  return *next_;
}

Result<Reaper::Reaped> Reaper::reap(Link& link, const Keys& keys, const Options& options, Log& log) {
  const Result<std::optional<std::string>> token = take_short_lock(link, keys.reaper_lock(), kReaperLock);
  if (!token) return fail(token.error());
  if (!*token) return Reaped{};
  Pass pass(link, keys, options, log);
  pass.reaped.had_lock = true;
  Status done = pass.freeze_stale_runs();
  if (done) done = pass.sweep_claims();
  release_short_lock(link, keys.reaper_lock(), **token);
  if (!done) return fail(done.error());
  return pass.reaped;
}

}  // namespace kron::cluster
