#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kron/queue/task_queue.h"

// What has been asked of a queue and not yet answered, by kind, in the order it came. For QueueThread and what it
// drives.
namespace kron {

template <class Request, class Reply>
struct Asked {
  Request request;
  std::function<void(Reply)> answer;
};

// Done in parts when it is large.
struct Submission {
  std::vector<NewTask> tasks;
  std::function<void(std::vector<Result<SubmitAnswer>>)> answer;
  std::vector<Result<SubmitAnswer>> answers = {};  // of the first tasks
};

struct LeaseWait {
  std::uint64_t ticket = 0;
  LeaseRequest request;
  Nanoseconds until{0};  // on Clock::boot_time
  std::function<bool(Result<std::vector<Lease>>)> answer;
};

// A commit, and a lease that is served in the same round behind it.
struct CommitAndLease {
  Asked<CommitRequest, Result<CommitAnswer>> commit;
  LeaseWait then;
};

// Takes the first of them out, at most so many.
template <class T>
std::vector<T> take_first(std::deque<T>& from, std::size_t most) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(most, from.size()));
  std::vector<T> taken(std::move_iterator(from.begin()), std::move_iterator(end));
  from.erase(from.begin(), end);
  return taken;
}

struct Questions {
  using Nothing = std::monostate;

  std::deque<Asked<Nothing, Status>> opens;
  std::deque<Submission> submissions;
  std::deque<Asked<LeaseKey, Result<LeaseOutcome>>> starts;
  std::deque<Asked<LeaseKey, Result<LeaseOutcome>>> renewals;
  std::deque<Asked<CommitRequest, Result<CommitAnswer>>> commits;
  std::deque<CommitAndLease> commits_and_leases;
  std::deque<Asked<FailRequest, Result<FailAnswer>>> failures;
  std::deque<Asked<std::string, Result<CancelOutcome>>> cancels;
  std::deque<Asked<RetryRequest, Result<RetryOutcome>>> retries;
  std::deque<Asked<PruneRequest, Result<std::size_t>>> prunes;
  std::deque<Asked<std::string, Result<Task>>> gets;
  std::deque<Asked<TaskFilter, Result<TaskPage>>> lists;
  std::deque<Asked<Nothing, Result<TaskSummary>>> summaries;
  std::deque<LeaseWait> leases;
  std::vector<std::uint64_t> withdrawals;  // tickets of leases
  std::vector<std::string> wakes;          // types of which a task may be ready; empty: of any

  // Calls visit(kind of one, kind of the other) for each kind but leases, withdrawals and wakes.
  template <class One, class Other, class Visit>
  static void each_kind(One& one, Other& other, Visit visit) {
    visit(one.opens, other.opens);
    visit(one.submissions, other.submissions);
    visit(one.starts, other.starts);
    visit(one.renewals, other.renewals);
    visit(one.commits, other.commits);
    visit(one.commits_and_leases, other.commits_and_leases);
    visit(one.failures, other.failures);
    visit(one.cancels, other.cancels);
    visit(one.retries, other.retries);
    visit(one.prunes, other.prunes);
    visit(one.gets, other.gets);
    visit(one.lists, other.lists);
    visit(one.summaries, other.summaries);
  }
};

}  // namespace kron
