#include "kron/cluster/output_shipper.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kron/cluster/calls.h"
#include "kron/cluster/outcome_text.h"
#include "kron/cluster/rundata.h"

namespace kron::cluster {
namespace {

constexpr std::size_t kMostLines = 500;
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
constexpr std::size_t kMostLinesInEnd = 100;
constexpr std::size_t kMostUnderWay = std::size_t{1} << 20;  // of each lane
constexpr std::size_t kMostFinalOutput = std::size_t{64} << 10;
constexpr std::size_t kMostAtOnce = 200;  // runs, so that answers are taken in between
constexpr int kMostRefusals = 3;          // of the output of a run that is over; then it ends without
constexpr Nanoseconds kFirstPause = std::chrono::milliseconds(500);
constexpr Nanoseconds kLongestPause = std::chrono::seconds(30);
constexpr Nanoseconds kIdle = std::chrono::seconds(3600);

std::size_t command_size(const RedisCommand& command) {
  std::size_t size = 0;
  for (const std::string& word : command) size += word.size() + 16;
  return size;
}

}  // namespace

// What the link's thread and the shipper's share.
struct OutputShipper::Inbox {
  std::mutex mutex;
  std::vector<Answer> answers;
  std::function<void()> wake;

  void put(Answer answer) {
    const std::lock_guard lock(mutex);
    answers.push_back(std::move(answer));
    if (wake) wake();
  }
  std::vector<Answer> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(answers, {});
  }
};

OutputShipper::OutputShipper(ActiveRuns& runs, Link& link, Keys keys, const Clock& clock, Log& log, Options options)
    : runs_(runs),
      link_(link),
      keys_(std::move(keys)),
      clock_(clock),
      log_(log),
      options_(std::move(options)),
      inbox_(std::make_shared<Inbox>()) {}

OutputShipper::~OutputShipper() { on_answer({}); }

void OutputShipper::on_answer(std::function<void()> wake) {
  const std::lock_guard lock(inbox_->mutex);
  inbox_->wake = std::move(wake);
}

Nanoseconds OutputShipper::tick() {
  for (const Answer& answer : inbox_->take()) take(answer);
  const ActiveRuns::Changes changes = runs_.take_changes();
  for (const std::string& run_id : changes.added) add(run_id);
  for (const std::string& run_id : changes.ended) {
    const auto found = shipped_.find(run_id);
    if (found == shipped_.end()) continue;
    found->second.lane = &over_;
    found->second.is_ready = false;
    make_ready(run_id, found->second);
  }
  if (clock_.boot_time() >= sweep_at_) {
    sweep_at_ = clock_.boot_time() + options_.cadence;
    for (auto& [run_id, shipped] : shipped_) make_ready(run_id, shipped);
  }
  work_off(over_);
  work_off(running_);
  const auto has_work = [](const Lane& lane) { return !lane.ready.empty() && lane.under_way < kMostUnderWay; };
  if (has_work(over_) || has_work(running_)) return Nanoseconds(0);
  return shipped_.empty() ? kIdle : std::max(sweep_at_ - clock_.boot_time(), Nanoseconds(0));
}

void OutputShipper::make_ready(const std::string& run_id, Shipped& shipped) {
  if (shipped.asked != nullptr || std::exchange(shipped.is_ready, true)) return;
  shipped.lane->ready.push_back(run_id);
}

void OutputShipper::work_off(Lane& lane) {
  for (std::size_t i = 0; i < kMostAtOnce && !lane.ready.empty() && lane.under_way < kMostUnderWay; ++i) {
    const std::string run_id = std::move(lane.ready.front());
    lane.ready.pop_front();
    const auto found = shipped_.find(run_id);
    // It may have changed its lane since.
    if (found == shipped_.end() || found->second.lane != &lane) continue;
    found->second.is_ready = false;
    if (found->second.asked != nullptr || found->second.retry_at > clock_.boot_time()) continue;
    advance(run_id, found->second);
  }
}

void OutputShipper::add(const std::string& run_id) {
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  const bool is_there = runs_.with(run_id, [&](const ActiveRun& run) {
    lines = run.claim.lines_shipped;
    bytes = run.claim.bytes_shipped;
  });
  if (!is_there) return;
  const auto [added, is_new] =
      shipped_.try_emplace(run_id, runner::LineTail(options_.runs_directory, run_id, bytes), running_);
  if (!is_new) return;
  added->second.lines_there = lines;
  if (bytes > 0) fill_last(added->second, run_id, bytes);
}

// An earlier daemon has shipped these; the last of them belong to the end of the run.
void OutputShipper::fill_last(Shipped& shipped, const std::string& run_id, std::uint64_t bytes) const {
  runner::LineTail before(options_.runs_directory, run_id);
  for (bool goes_on = true; goes_on;) {
    const Lines lines = before.next(kMostLines, kReadAtOnce, true);
    goes_on = !lines.empty();
    for (const runner::LineTail::Line& line : lines) {
      if (line.end > bytes) return;
      remember(shipped, line.text);
    }
  }
}

void OutputShipper::remember(Shipped& shipped, const std::string& line) const {
  shipped.last.push_back(line);
  shipped.last_bytes += line.size();
  while (shipped.last.size() > options_.final_lines ||
         (shipped.last.size() > 1 && shipped.last_bytes > kMostFinalOutput)) {
    shipped.last_bytes -= shipped.last.front().size();
    shipped.last.pop_front();
  }
}

void OutputShipper::advance(const std::string& run_id, Shipped& shipped) {
  std::optional<RunExit> exit;
  Claim claim;
  const bool is_there = runs_.with(run_id, [&](const ActiveRun& run) {
    exit = run.exit;
    if (exit) claim = run.claim;
  });
  if (!is_there) {
    shipped_.erase(run_id);
    return;
  }
  if (exit && shipped.refusals >= kMostRefusals) {
    // A run must be able to end; what it wrote stays in its file.
    shipped.chunk.clear();
    return end(run_id, shipped, claim, *exit);
  }
  if (shipped.chunk.empty()) {
    shipped.chunk = shipped.tail.next(kMostLines, options_.chunk, exit.has_value());
    for (const runner::LineTail::Line& line : shipped.chunk) remember(shipped, line.text);
  }
  const bool is_last = exit && shipped.chunk.size() <= kMostLinesInEnd && !shipped.tail.has_more(true);
  if (is_last) return end(run_id, shipped, claim, *exit);
  if (!shipped.chunk.empty()) push(run_id, shipped);
}

std::vector<std::string> OutputShipper::texts_of(const Lines& lines) const {
  std::vector<std::string> texts;
  texts.reserve(lines.size());
  for (const runner::LineTail::Line& line : lines) {
    texts.push_back(line.text);
    if (options_.dialect == Dialect::seed && texts.back().ends_with('\n')) texts.back().pop_back();
  }
  return texts;
}

void OutputShipper::push(const std::string& run_id, Shipped& shipped) {
  PushCall call;
  call.run_id = run_id;
  call.lines_there = shipped.lines_there;
  call.output_ttl = options_.output_ttl;
  call.output_is_list = options_.dialect == Dialect::cronken;
  call.lines = texts_of(shipped.chunk);
  post(run_id, shipped, call.command(keys_), false);
}

void OutputShipper::end(const std::string& run_id, Shipped& shipped, const Claim& claim, const RunExit& exit) {
  const Grant& grant = claim.grant;
  FinalRun last{options_.host, grant.job, grant.start_time, status_of(exit), retcode_of(exit), {}};
  for (const std::string& line : shipped.last) last.output += line;
  last.output = last_lines(last.output, options_.final_lines, kMostFinalOutput);
  const BlobParts blob = final_blob(options_.dialect, last);

  OutcomeText outcome;
  outcome.job = grant.job;
  outcome.host = options_.instance ? options_.instance() : options_.host;
  outcome.outcome = Outcome::executed;
  outcome.detail = as_utf8(exit.reason);
  outcome.trigger = grant.trigger;
  outcome.period = grant.period;
  outcome.chosen = grant.chosen;
  outcome.run_id = run_id;
  outcome.exit_code = exit.code;
  outcome.attempts = several(exit.attempts);
  outcome.failed = unlike_exit_code(exit.failed, exit.code);
  outcome.output_bytes = exit.output_bytes;
  outcome.used = exit.used;

  EndCall call;
  call.run_id = run_id;
  call.job = grant.job;
  call.start_time = grant.start_time;
  call.status = result_of(last.status);
  call.blob_head = blob.head;
  call.blob_tail = blob.tail;
  call.general_cap = options_.general_cap;
  call.job_cap = options_.job_cap;
  call.lock_key = grant.lock_key;
  call.least_hold = grant.least_hold;
  call.outcome = print(outcome);
  call.outcomes_cap = options_.outcomes_cap;
  call.output_ttl = options_.output_ttl;
  call.output_is_list = options_.dialect == Dialect::cronken;
  call.lines_there = shipped.lines_there;
  call.lines = texts_of(shipped.chunk);
  post(run_id, shipped, call.command(keys_), true);
}

void OutputShipper::post(const std::string& run_id, Shipped& shipped, RedisCommand command, bool is_end) {
  shipped.is_end = is_end;
  shipped.asked = shipped.lane;
  shipped.asked_bytes = command_size(command);
  shipped.asked->under_way += shipped.asked_bytes;
  link_.post(std::move(command), is_end ? Link::Urgency::urgent : Link::Urgency::bulk,
             [inbox = inbox_, run_id](const TimedReply& reply) {
               inbox->put({run_id, reply.reply});
             });
}

void OutputShipper::take(const Answer& answer) {
  const auto found = shipped_.find(answer.run_id);
  if (found == shipped_.end() || found->second.asked == nullptr) return;
  Shipped& shipped = found->second;
  std::exchange(shipped.asked, nullptr)->under_way -= shipped.asked_bytes;
  switch (answer.reply.how) {
    case RedisReply::How::reply:
      return shipped.is_end ? take_end(answer.run_id, shipped, answer.reply.value)
                            : take_push(answer.run_id, shipped, answer.reply.value);
    case RedisReply::How::error:
      return retry(answer.run_id, shipped, answer.reply.why);
    case RedisReply::How::lost:
    case RedisReply::How::not_sent:
      // The link has ended. The claim file stays, and the next daemon goes on.
      shipped.retry_at = kNoDeadline;
      return;
  }
}

void OutputShipper::take_push(const std::string& run_id, Shipped& shipped, const RedisValue& value) {
  const Result<PushAnswer> answer = PushAnswer::parse(value);
  if (!answer) return retry(run_id, shipped, answer.error().message);
  shipped.refusals = 0;
  shipped.lines_there = answer->lines_there;
  make_ready(run_id, shipped);
  if (answer->is_gap) return;  // what was there has expired or was deleted; these lines are the next
  const std::uint64_t bytes = shipped.chunk.back().end;
  shipped.chunk.clear();
  // If we die before this is written, the next daemon sends the same lines with the same number, and the script skips
  // those that are there.
  runs_.with(run_id, [&](ActiveRun& run) {
    run.claim.lines_shipped = shipped.lines_there;
    run.claim.bytes_shipped = bytes;
    (void)run.file.write(run.claim);
  });
}

void OutputShipper::take_end(const std::string& run_id, Shipped& shipped, const RedisValue& value) {
  const Result<EndAnswer> answer = EndAnswer::parse(value);
  if (!answer) return retry(run_id, shipped, answer.error().message);
  if (answer->word == EndAnswer::Word::over) log_.warning("run_was_over", {{"runId", run_id}});
  runs_.remove(run_id);
  shipped_.erase(run_id);
}

// Redis does not take it: it is short of memory, or something of another kind has the key. The next sweep finds it.
void OutputShipper::retry(const std::string& run_id, Shipped& shipped, const std::string& why) {
  const int doublings = std::min(shipped.refusals++, 6);
  shipped.retry_at = clock_.boot_time() + std::min(kFirstPause * (1 << doublings), kLongestPause);
  log_.error(shipped.is_end ? "end_refused" : "output_refused", {{"runId", run_id}, {"reason", why}});
}

}  // namespace kron::cluster
