#include "kron/queue/queue_service.h"

// For a queue that is far away: what arrived together goes there together, of whatever kind it is. What is left of it,
// and the kinds that are rare, are done one after the other as for any queue.
namespace kron {
namespace {

template <class Request, class Reply>
std::vector<Request> requests_of(std::vector<Asked<Request, Reply>>& asked) {
  std::vector<Request> requests;
  requests.reserve(asked.size());
  for (auto& one : asked) requests.push_back(std::move(one.request));
  return requests;
}

template <class Request, class Reply>
void answer_all(std::vector<Asked<Request, Reply>>& asked, std::vector<Reply>& replies) {
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i].answer(std::move(replies[i]));
}

}  // namespace

void QueueService::do_round() {
  TaskQueue* const open = queue_.opened();
  if (open == nullptr || !open->is_far_away() || open->has_stopped()) return;
  const bool changes = !questions_.submissions.empty() || !questions_.commits.empty() || !questions_.failures.empty();
  const bool asks_for_leases = !questions_.leases.empty() && (may_be_ready_ || changes);
  const int kinds = (questions_.submissions.empty() ? 0 : 1) + (questions_.starts.empty() ? 0 : 1) +
                    (questions_.renewals.empty() ? 0 : 1) + (questions_.commits.empty() ? 0 : 1) +
                    (questions_.failures.empty() ? 0 : 1) + (asks_for_leases ? 1 : 0);
  if (kinds < 2) return;
  QueueRound round;
  auto starts = take_first(questions_.starts, kMostAtOnce);
  auto renewals = take_first(questions_.renewals, kMostAtOnce);
  auto commits = take_first(questions_.commits, kMostAtOnce);
  auto fails = take_first(questions_.failures, kMostAtOnce);
  round.submits = next_submissions();
  round.starts = requests_of(starts);
  round.renewals = requests_of(renewals);
  round.commits = requests_of(commits);
  round.fails = requests_of(fails);
  if (asks_for_leases) round.leases = next_leases(0);
  auto answers = open->do_round(round);
  answer_submissions(std::move(answers.submits));
  answer_all(starts, answers.starts);
  answer_all(renewals, answers.renewals);
  answer_all(commits, answers.commits);
  answer_all(fails, answers.fails);
  if (!asks_for_leases) {
    may_be_ready_ = may_be_ready_ || changes;
    return;
  }
  // Those who are behind the first group are asked for next.
  may_be_ready_ = questions_.leases.size() > round.leases.size();
  answer_leases(*open, 0, std::move(answers.leases));
}

}  // namespace kron
