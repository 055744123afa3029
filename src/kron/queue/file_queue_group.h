#pragma once

#include <set>
#include <vector>

#include "kron/queue/file_queue.h"

// How FileQueue's verbs on leases share their syncs; for its own sources only.
namespace kron {

inline const LeaseKey& key_of(const LeaseKey& key) { return key; }
template <class Request>
const LeaseKey& key_of(const Request& request) {
  return request.key;
}

// `prepare` judges one request; what it wants written is written with that of the others; `conclude` hears of each
// whether it is safe. Requests for the same task, and those that wait for another, go into a later round, so that each
// sees what became of the ones before; the first of a round never waits.
template <class Answer, class Request, class Prepare, class Conclude>
std::vector<Result<Answer>> FileQueue::grouped(std::span<const Request> requests, Prepare prepare, Conclude conclude) {
  std::vector<Result<Answer>> answers(requests.size(), Result<Answer>(Answer{}));
  std::vector<std::size_t> waiting(requests.size());
  for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i] = i;
  while (!waiting.empty()) {
    std::vector<std::size_t> later;
    std::vector<std::size_t> written;
    std::vector<Move> moves;
    std::set<std::string_view> tasks;
    for (const std::size_t i : waiting) {
      const LeaseKey& key = key_of(requests[i]);
      if (!tasks.insert(task_of_exec_id(key.exec_id).value_or(key.exec_id)).second) {
        later.push_back(i);
        continue;
      }
      Result<Prepared<Answer>> prepared = files_.stopped() ? fail(*files_.stopped()) : prepare(requests[i]);
      if (!prepared) {
        answers[i] = fail(prepared.error());
        continue;
      }
      if (prepared->waits) {
        later.push_back(i);
        continue;
      }
      answers[i] = std::move(prepared->answer);
      if (!prepared->after) continue;
      moves.push_back({*std::move(prepared->after), TaskDirectory::running});
      written.push_back(i);
    }
    const auto statuses = files_.apply(moves);
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (!statuses[i]) {
        answers[written[i]] = fail(statuses[i].error());
      } else if (directory_of(moves[i].task) == TaskDirectory::running) {
        keep_in_memory(moves[i].task);
      }
      conclude(moves[i].task, statuses[i].has_value());
    }
    waiting = std::move(later);
  }
  return answers;
}

}  // namespace kron
