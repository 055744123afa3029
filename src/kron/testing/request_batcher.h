#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kron::testing {

// Lets many threads ask one by one and have their requests done together: while one group is being made durable, the
// next one is collected. Nobody is answered before its group is done.
//
// `perform` is never called twice at a time by the same RequestBatcher. Batchers that share a queue share a mutex in
// their `perform`.
template <class Request, class Answer>
class RequestBatcher {
 public:
  using Perform = std::function<std::vector<Answer>(std::span<const Request>)>;

  RequestBatcher(std::size_t most_at_once, Perform perform) : most_(most_at_once), perform_(std::move(perform)) {}

  Answer ask(Request request) {
    Waiting mine{std::move(request), std::nullopt};
    std::unique_lock lock(mutex_);
    waiting_.push_back(&mine);
    changed_.wait(lock, [&] { return mine.answer || !is_busy_; });
    // Whoever finds nobody at work does it for all that wait. Its own may not be among them, then it goes on.
    while (!mine.answer) {
      perform_group(lock);
      if (!mine.answer) changed_.wait(lock, [&] { return mine.answer || !is_busy_; });
    }
    return *std::move(mine.answer);
  }

  // How many wait for the next group.
  std::size_t waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.size();
  }

 private:
  struct Waiting {
    Request request;
    std::optional<Answer> answer;
  };

  void perform_group(std::unique_lock<std::mutex>& lock) {
    const std::size_t count = std::min(most_, waiting_.size());
    std::vector<Waiting*> group(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    is_busy_ = true;
    lock.unlock();
    std::vector<Request> requests;
    requests.reserve(count);
    for (Waiting* one : group) requests.push_back(std::move(one->request));
    std::vector<Answer> answers = perform_(requests);
    lock.lock();
    for (std::size_t i = 0; i < count; ++i) group[i]->answer = std::move(answers[i]);
    is_busy_ = false;
    changed_.notify_all();
  }

  std::size_t most_;
  Perform perform_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiting*> waiting_;
  bool is_busy_ = false;
};

}  // namespace kron::testing
