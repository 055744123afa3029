#include <algorithm>

#include "kron/queue/answers.h"
#include "kron/queue/redis_queue.h"

// Lists and removals, a part at a time: a part is one call of a script.
namespace kron {
namespace {

constexpr std::size_t kLooksOfAPart = 50;
constexpr std::size_t kRemovalsOfAPart = 100;

std::vector<std::string> sets_of(const std::optional<TaskState>& state) {
  if (!state) return {"live", "succeeded", "failed"};
  if (*state == TaskState::succeeded) return {"succeeded"};
  if (*state == TaskState::failed) return {"failed"};
  return {"live"};
}

std::string letter_of(const std::optional<TaskState>& state) {
  if (!state) return "";
  return *state == TaskState::succeeded ? "S" : "F";
}

}  // namespace

class RedisQueue::Page : public ListScan {
 public:
  Page(RedisQueue& queue, const TaskFilter& filter) : queue_(queue), filter_(filter), after_(filter.after) {}

  Result<std::optional<TaskPage>> next_part() override {
    std::vector<std::string> arguments{after_, std::to_string(kLooksOfAPart)};
    std::ranges::move(sets_of(filter_.state), std::back_inserter(arguments));
    const auto answer = std::move(queue_.ask({queue_.script("page", std::move(arguments))}).front());
    if (!answer) return fail(answer.error());
    std::vector<std::string> ids;
    bool is_last = true;
    for (const RedisValue& set : *answer) {
      is_last = is_last && set.items.size() < kLooksOfAPart;
      for (const RedisValue& id : set.items) ids.push_back(id.text);
    }
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    // Of the sets that have more only so much is known.
    if (!is_last && ids.size() > kLooksOfAPart) ids.resize(kLooksOfAPart);
    std::vector<RedisCommand> commands;
    for (const std::string& id : ids) commands.push_back({"HGETALL", queue_.keys_.task(id)});
    const auto replies = queue_.ask_plainly(std::move(commands));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (auto page = look_at(ids[i], replies[i]); !page || *page) return page;
    }
    if (is_last) return std::move(page_);
    return std::nullopt;
  }

 private:
  // The page, when it is complete without this one.
  Result<std::optional<TaskPage>> look_at(const std::string& id, const RedisReply& reply) {
    if (looks_ == kMostLooksAtAPage || bytes_ >= kMostPageBytes) {
      page_.next = after_;
      return std::move(page_);
    }
    auto task = queue_.task_in(id, reply);
    if (!task && task.error().code == Code::unreachable) return fail(task.error());
    ++looks_;
    // One that cannot be read is in the log; one that is gone was removed meanwhile.
    if (task && matches(filter_, task->task)) {
      if (page_.size() >= filter_.limit) {
        page_.next = page_.empty() ? filter_.after : page_.back().spec.id;
        return std::move(page_);
      }
      bytes_ += task->task.spec.data.size() + task->task.result.size();
      page_.push_back(std::move(task->task));
    }
    after_ = id;
    return std::nullopt;
  }

  RedisQueue& queue_;
  TaskFilter filter_;
  std::string after_;  // the last that was looked at
  TaskPage page_;
  std::size_t looks_ = 0;
  std::size_t bytes_ = 0;
};

class RedisQueue::Removal : public RemovalScan {
 public:
  // First what is too old, then, when it is given, what is too many.
  Removal(RedisQueue& queue, const PruneRequest& request, std::optional<std::size_t> most)
      : queue_(queue), request_(request), most_(most) {}

  Result<bool> next_part() override {
    const bool is_excluded =
        request_.state && *request_.state != TaskState::succeeded && *request_.state != TaskState::failed;
    if (is_excluded || request_.limit == removed_) return true;
    const std::size_t rest = std::min(request_.limit - removed_, kRemovalsOfAPart);
    const bool by_age = !is_by_number_;
    const std::string bound =
        by_age ? std::to_string(epoch_seconds(request_.over_before)) : std::to_string(most_.value_or(0));
    const auto answer =
        std::move(queue_
                      .ask({queue_.script(
                          "prune", {by_age ? "before" : "beyond", bound, letter_of(request_.state),
                                    std::to_string(passed_), std::to_string(kRemovalsOfAPart), std::to_string(rest),
                                    queue_.next_request(), std::to_string(kRedisRequestIsRemembered.count())})})
                      .front());
    if (!answer) return fail(answer.error());
    const auto removed = answer->size() == 3 ? whole_number((*answer)[0].text) : std::nullopt;
    const auto stay = removed ? whole_number((*answer)[1].text) : std::nullopt;
    if (!stay || *removed < 0 || *stay < 0) return fail(Code::internal, "Redis gave an answer that is none to a prune");
    removed_ += static_cast<std::size_t>(*removed);
    passed_ += static_cast<std::size_t>(*stay);
    if (!(*answer)[2].text.empty()) return false;
    if (is_by_number_ || !most_) return true;
    is_by_number_ = true;
    passed_ = 0;
    return false;
  }
  std::size_t removed() const override { return removed_; }

 private:
  RedisQueue& queue_;
  PruneRequest request_;
  std::optional<std::size_t> most_;
  bool is_by_number_ = false;
  std::size_t passed_ = 0;
  std::size_t removed_ = 0;
};

std::unique_ptr<ListScan> RedisQueue::begin_list(const TaskFilter& filter) {
  return std::make_unique<Page>(*this, filter);
}

std::unique_ptr<RemovalScan> RedisQueue::begin_prune(const PruneRequest& request) {
  return std::make_unique<Removal>(*this, request, std::nullopt);
}

std::unique_ptr<RemovalScan> RedisQueue::begin_retention(const TaskRetention& keeps, Instant now) {
  const Instant before = now - std::min(keeps.age, Seconds(now.time_since_epoch()));
  return std::make_unique<Removal>(*this, PruneRequest{.over_before = before, .limit = SIZE_MAX}, keeps.most);
}

}  // namespace kron
