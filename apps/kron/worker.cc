#include "worker.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "kron/env/event_loop.h"
#include "kron/queue/transitions.h"
#include "kron/runner/protocol.h"

namespace kron::cli {
namespace {

constexpr int kTryLater = 75;  // EX_TEMPFAIL of sysexits.h
constexpr Seconds kPause{1};   // before the tasks are asked again that could not be reached

bool may_pass(const Error& error) { return error.code == Code::unreachable; }

}  // namespace

Status Worker::run() {
  auto loop = EventLoop::create(Nanoseconds(0));
  if (!loop) return fail(loop.error());
  if (Status watched = (*loop)->watch(commands_.descriptor(), [] {}); !watched) return watched;
  if (client_.descriptor() >= 0) {
    if (Status watched = (*loop)->watch(client_.descriptor(), [] {}); !watched) return watched;
  }
  if (Status taken = (*loop)->take_signals({SIGTERM, SIGINT}, [this](int signal) { stop(signal); }); !taken) {
    return taken;
  }
  while (true) {
    if (Status done = turn(); !done) return done;
    const auto over = is_over();
    if (!over) return fail(over.error());
    log_.flush();
    if (*over && broken_command_) return fail(*broken_command_);
    if (*over) return {};
    // Only with room is there anything to do about a chance; without, it would wake us in vain.
    const NextChance chance = has_room() ? client_.next_chance() : NextChance{};
    auto deadline = next_deadline();
    if (chance.expires && (!deadline || *chance.expires < *deadline)) deadline = chance.expires;
    (*loop)->wake_at(chance.ready);
    (*loop)->wake_at_monotonic(deadline);
    if (const auto woken = (*loop)->wait(); !woken) return fail(woken.error());
  }
}

Status Worker::turn() {
  has_trouble_ = false;
  for (EndedCommand& ended : commands_.drain()) {
    const auto found = works_.find(ended.token);
    if (found != works_.end()) found->second.ended = std::move(ended);
  }
  if (Status settled = settle(); !settled) return settled;
  renew_due();
  return lease_more();
}

void Worker::stop(int signal) {
  ++stops_;
  log_.info("worker_stopping", {{"signal", std::string_view(::sigabbrev_np(signal))},
                                {"running", static_cast<std::int64_t>(works_.size())}});
  client_.stop_leasing();
  if (stops_ != 2) return;
  for (const auto& [token, work] : works_) commands_.terminate(token);
}

void Worker::renew_due() {
  for (auto& [token, work] : works_) {
    const Nanoseconds now = clock_.boot_time();
    if (work.is_lost || now < work.renew_at) continue;
    const auto answer = client_.renew(work.lease.key);
    if (answer && *answer == LeaseOutcome::accepted) {
      work.renew_at = now + Nanoseconds(options_.lease) / 3;
      work.ends_at = now + options_.lease;
    } else if (answer) {
      lose(work, name_of(*answer));
    } else if (now >= work.ends_at || !may_pass(answer.error())) {
      lose(work, answer.error().message);
    } else {
      work.renew_at = now + kPause;
    }
  }
}

void Worker::lose(Work& work, std::string_view why) {
  work.is_lost = true;
  log_.warning("lease_lost", {{"task", std::string_view(work.lease.task_id)},
                              {"execution", std::string_view(work.lease.key.exec_id)},
                              {"reason", why}});
  if (!work.ended) commands_.terminate(work.lease.key.token);
}

// What has ended since the last turn is told together, so that it shares its syncs.
Status Worker::settle() {
  std::vector<std::uint64_t> lost;
  std::vector<std::uint64_t> good;
  std::vector<FailRequest> failed;
  for (auto& [token, work] : works_) {
    if (!work.ended) continue;
    if (work.is_lost) {
      lost.push_back(token);
    } else if (work.ended->code == 0 && work.ended->reason.empty()) {
      good.push_back(token);
    } else {
      if (cannot_execute(work) && !broken_command_) {
        // Every other task would end the same way.
        broken_command_ = Error{Code::unreadable, "--exec: " + work.ended->reason};
        client_.stop_leasing();
      }
      failed.push_back(failure_of(work, nullptr));
    }
  }
  for (const std::uint64_t token : lost) finish(token, LogLevel::info, "task_dropped", "its lease was lost");
  if (Status committed = commit(good); !committed) return committed;
  return give_up(failed);
}

Status Worker::commit(const std::vector<std::uint64_t>& tokens) {
  std::vector<CommitRequest> requests;
  std::vector<FailRequest> failed;
  for (const std::uint64_t token : tokens) {
    const Work& work = works_.at(token);
    auto output = commands_.output_of(token);
    if (!output) {
      failed.push_back(failure_of(work, &output.error()));
      continue;
    }
    requests.push_back(
        {work.lease.key, std::move(output->result), std::move(output->follow_ups), std::move(output->files)});
  }
  const Nanoseconds asked = clock_.boot_time();
  auto [answers, leases] =
      goes_on() && !requests.empty()
          ? client_.commit_and_lease(requests, request_for(options_.concurrency - works_.size() + requests.size()))
          : CommitsAndLeases{client_.commit(requests)};
  if (leases) leased_ = {*std::move(leases), asked};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::uint64_t token = requests[i].key.token;
    if (answers[i] && answers[i]->outcome == LeaseOutcome::accepted) {
      finish(token, LogLevel::info, "task_committed", "");
    } else if (answers[i]) {
      finish(token, LogLevel::warning, "task_dropped", name_of(answers[i]->outcome));
    } else if (answers[i].error().code == Code::io) {
      return fail(answers[i].error());
    } else if (!may_pass(answers[i].error())) {
      failed.push_back(failure_of(works_.at(token), &answers[i].error()));
    } else {
      has_trouble_ = true;  // perhaps it happened: asked again, it will be a duplicate
    }
  }
  return give_up(failed);
}

// kron-exec gives a reason with these statuses; a command that ends with one of them by itself has none.
bool Worker::cannot_execute(const Work& work) const {
  const EndedCommand& ended = *work.ended;
  return !ended.reason.empty() && (ended.code == runner::kNotFound || ended.code == runner::kCannotExecute);
}

FailRequest Worker::failure_of(const Work& work, const Error* problem) const {
  const EndedCommand& ended = *work.ended;
  if (problem != nullptr) return {work.lease.key, problem->message};
  if (stops_ > 1) return {work.lease.key, "the worker was stopped", false};
  if (cannot_execute(work)) return {work.lease.key, ended.reason, false, false};
  if (!ended.reason.empty()) return {work.lease.key, ended.reason};
  if (!ended.code) return {work.lease.key, "nobody saw how the command ended"};
  return {work.lease.key, "exit status " + std::to_string(*ended.code), *ended.code != kTryLater};
}

Status Worker::give_up(const std::vector<FailRequest>& requests) {
  const auto answers = client_.fail_attempts(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const FailRequest& request = requests[i];
    if (!answers[i] && answers[i].error().code == Code::io) return fail(answers[i].error());
    if (!answers[i] && may_pass(answers[i].error())) {
      has_trouble_ = true;
      continue;
    }
    const bool is_dead = answers[i] && answers[i]->state == TaskState::failed;
    finish(request.key.token, is_dead ? LogLevel::error : LogLevel::warning, is_dead ? "task_dead" : "task_failed",
           request.reason);
  }
  return {};
}

void Worker::finish(std::uint64_t token, LogLevel level, std::string_view event, std::string_view reason) {
  const Lease& lease = works_.at(token).lease;
  const LogField fields[] = {{"task", std::string_view(lease.task_id)},
                             {"type", std::string_view(lease.type)},
                             {"execution", std::string_view(lease.key.exec_id)},
                             {"attempt", std::int64_t{lease.attempt}},
                             {"reason", reason}};
  log_.write(level, event, fields);
  commands_.forget(token);
  works_.erase(token);
}

LeaseRequest Worker::request_for(std::size_t room) const {
  return {.worker = options_.name,
          .types = options_.types,
          .count = std::min(room, kMostLeases),
          .term = options_.lease,
          .starts = true};
}

Status Worker::lease_more() {
  found_none_ = false;
  while (leased_ || has_room()) {
    const Nanoseconds asked = leased_ ? leased_->asked : clock_.boot_time();
    auto leases =
        leased_ ? std::move(leased_->leases) : client_.lease(request_for(options_.concurrency - works_.size()));
    leased_.reset();
    if (!leases && !may_pass(leases.error())) return fail(leases.error());
    has_trouble_ = has_trouble_ || !leases;
    if (!leases) note_trouble(leases.error());
    if (leases && std::exchange(is_cut_off_, false)) log_.info("tasks_reachable", {});
    found_none_ = leases && leases->empty();
    if (!leases || leases->empty()) return {};
    for (const Lease& lease : *leases) {
      works_[lease.key.token] = {lease, asked + Nanoseconds(options_.lease) / 3, asked + options_.lease};
    }
    if (Status started = start(*std::move(leases)); !started) return started;
  }
  return {};
}

void Worker::note_trouble(const Error& error) {
  if (std::exchange(is_cut_off_, true)) return;
  log_.warning("tasks_unreachable", {{"reason", std::string_view(error.message)}});
}

Status Worker::start(std::vector<Lease> leases) {
  std::vector<FailRequest> failed;
  for (const Lease& lease : leases) {
    const Status started = commands_.start(lease);
    // The machine's fault, not the task's.
    if (!started) failed.push_back({lease.key, "cannot start: " + started.error().message, false});
  }
  return give_up(failed);
}

Result<bool> Worker::is_over() {
  if (!works_.empty() || commands_.running() > 0) return false;
  if (stops_ > 0 || broken_command_) return true;
  if (options_.until == WorkUntil::stopped || !found_none_) return false;
  if (options_.until == WorkUntil::idle) return true;
  const auto left = client_.has_left(options_.types);
  if (!left && may_pass(left.error())) return false;
  if (!left) return fail(left.error());
  return !*left;
}

std::optional<Nanoseconds> Worker::next_deadline() const {
  std::optional<Nanoseconds> earliest;
  const auto note = [&](Nanoseconds boot_time) {
    const Nanoseconds time = boot_time - clock_.boot_time() + clock_.monotonic();
    if (!earliest || time < *earliest) earliest = time;
  };
  for (const auto& [token, work] : works_) {
    if (!work.is_lost) note(work.renew_at);
  }
  if (has_trouble_) note(clock_.boot_time() + kPause);
  return earliest;
}

}  // namespace kron::cli
