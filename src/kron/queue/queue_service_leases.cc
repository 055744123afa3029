#include <algorithm>
#include <iterator>

#include "kron/queue/queue_service.h"

// Leases of the service. A request for leases waits in `questions_.leases`, in the order it came, until one of these
// happens: there is a task for it, its time is over (it is answered with none), it is withdrawn (it is not answered),
// or the queue cannot be opened or has stopped (it is answered with the reason).
namespace kron {
namespace {

constexpr Nanoseconds kBetweenExpiries = Seconds(1);  // of what the disk has refused

}  // namespace

void QueueService::drop_withdrawn() {
  if (questions_.withdrawals.empty()) return;
  std::ranges::sort(questions_.withdrawals);
  std::erase_if(questions_.leases,
                [&](const LeaseWait& wait) { return std::ranges::binary_search(questions_.withdrawals, wait.ticket); });
  questions_.withdrawals.clear();
}

void QueueService::expire_due() {
  TaskQueue* open = queue_.opened();
  if (open == nullptr || open->has_stopped()) return;
  const Nanoseconds boot_time = clock_.boot_time();
  const auto next = open->next_expiry();
  const bool is_due = (next && *next <= boot_time) || open->has_unfinished();
  if (!is_due || boot_time < expire_at_) return;
  const auto expired = open->expire();
  // What could not be ended, on a full disk, is not asked for again at once.
  expire_at_ = expired && !expired->empty() ? boot_time : boot_time + kBetweenExpiries;
  may_be_ready_ = true;
}

// First come, first served, in groups that share their syncs.
void QueueService::serve_leases() {
  // Its time has come, or it is new.
  const TaskQueue* open = queue_.opened();
  const auto ready = open != nullptr ? open->next_ready() : std::nullopt;
  may_be_ready_ = may_be_ready_ || (ready && *ready <= now(clock_));
  while (may_be_ready_ && !questions_.leases.empty()) {
    may_be_ready_ = false;
    const auto found = queue(false);
    if (!found) {
      for (LeaseWait& wait : take_first(questions_.leases, questions_.leases.size())) {
        static_cast<void>(wait.answer(fail(found.error())));
      }
      return;
    }
    for (std::size_t first = 0; first < questions_.leases.size();) first = serve_group(**found, first);
  }
}

// Asks for those who wait from number `first` on; returns the number of the next to be asked for.
std::size_t QueueService::serve_group(TaskQueue& queue, std::size_t first) {
  return answer_leases(queue, first, queue.lease(next_leases(first)));
}

std::vector<LeaseRequest> QueueService::next_leases(std::size_t first) const {
  std::vector<LeaseRequest> requests;
  std::size_t wanted = 0;
  for (std::size_t i = first; i < questions_.leases.size() && wanted < kMostAtOnce; ++i) {
    requests.push_back(questions_.leases[i].request);
    wanted += requests.back().count;
  }
  return requests;
}

std::size_t QueueService::answer_leases(TaskQueue& queue, std::size_t first,
                                        std::vector<Result<std::vector<Lease>>> answers) {
  std::deque<LeaseWait> still;
  std::vector<Lease> untaken;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    LeaseWait& wait = questions_.leases[first + i];
    if (answers[i] && answers[i]->empty()) {
      still.push_back(std::move(wait));
      continue;
    }
    const std::vector<Lease> leases = answers[i] ? *answers[i] : std::vector<Lease>();
    if (!wait.answer(std::move(answers[i]))) untaken.insert(untaken.end(), leases.begin(), leases.end());
  }
  const std::size_t kept = still.size();
  const auto begin = questions_.leases.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(answers.size());
  questions_.leases.erase(std::move(still.begin(), still.end(), begin), end);
  give_back(queue, untaken);
  return first + kept;
}

// Whoever asked has gone: the tasks are for the next one.
void QueueService::give_back(TaskQueue& queue, std::span<const Lease> leases) {
  if (leases.empty()) return;
  std::vector<FailRequest> requests;
  for (const Lease& lease : leases) requests.push_back({lease.key, "nobody took the lease", false, false});
  // One that cannot be given back now runs out.
  static_cast<void>(queue.fail_attempts(requests));
  may_be_ready_ = true;
}

void QueueService::answer_late_leases() {
  const Nanoseconds boot_time = clock_.boot_time();
  auto& leases = questions_.leases;
  const auto late =
      std::ranges::stable_partition(leases, [&](const LeaseWait& wait) { return wait.until > boot_time; });
  const std::vector<LeaseWait> answered(std::move_iterator(late.begin()), std::move_iterator(late.end()));
  leases.erase(late.begin(), late.end());
  for (const LeaseWait& wait : answered) static_cast<void>(wait.answer(std::vector<Lease>()));
}

}  // namespace kron
