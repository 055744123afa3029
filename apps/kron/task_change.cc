#include <algorithm>
#include <cstdio>

#include "flag_values.h"
#include "id_prefix.h"
#include "kron/base/duration.h"
#include "kron/queue/transitions.h"
#include "lines.h"
#include "task_session.h"
#include "task_verbs.h"

namespace kron::cli {
namespace {

constexpr std::size_t kRetriedAtOnce = 1000;

// Tells what became of one task after the other, and remembers the worst.
class Answers {
 public:
  Answers(std::string verb, bool json) : verb_(std::move(verb)), json_(json) {}

  void done(const std::string& task_id, std::string_view outcome) {
    if (json_) {
      std::printf("%s\n", outcome_json(task_id, outcome).c_str());
    } else {
      std::printf("%.*s %s\n", static_cast<int>(outcome.size()), outcome.data(), task_id.c_str());
    }
  }
  // An answer that is a no, with its reason for people.
  void negative(const std::string& task_id, std::string_view outcome, const char* reason) {
    status_ = std::max(status_, exit_status(Code::invalid));
    if (json_) {
      std::printf("%s\n", outcome_json(task_id, outcome).c_str());
    } else {
      std::fprintf(stderr, "kron %s: task %s %s\n", verb_.c_str(), task_id.c_str(), reason);
    }
  }
  void failed(const std::string& task_id, const Error& error) {
    status_ = std::max(status_, exit_status(error.code));
    if (json_) {
      std::printf("%s\n", task_error_json(task_id, error).c_str());
    } else {
      complain(verb_, error);
    }
  }
  int status() const { return status_; }

 private:
  std::string verb_;
  bool json_;
  int status_ = 0;
};

void retry_one(TaskClient& client, const std::string& id, int attempts, Answers& answers) {
  const auto outcome = client.retry(id, attempts);
  if (!outcome) return answers.failed(id, outcome.error());
  if (*outcome == RetryOutcome::retried) return answers.done(id, name_of(*outcome));
  answers.negative(id, name_of(*outcome), "is not FAILED, so there is nothing to retry");
}

// A task that is retried is no longer FAILED, and the next page begins behind it all the same.
Status retry_failed(TaskClient& client, const RetryOptions& options, Answers& answers) {
  TaskFilter filter{.state = TaskState::failed, .type = options.type, .limit = kRetriedAtOnce};
  while (true) {
    const auto page = client.list(filter);
    if (!page) return fail(page.error());
    for (const Task& task : *page) retry_one(client, task.spec.id, options.attempts, answers);
    if (page->size() < kRetriedAtOnce) return {};
    filter.after = page->back().spec.id;
  }
}

}  // namespace

int task_retry(const RetryOptions& options) {
  const auto session = TaskSession::open(options.place, false);
  if (!session) return refuse("task retry", session.error(), options.json);
  TaskClient& client = (*session)->client();
  Answers answers("task retry", options.json);
  if (options.all_failed) {
    if (Status done = retry_failed(client, options, answers); !done) {
      return refuse("task retry", done.error(), options.json);
    }
  }
  for (const std::string& typed : options.ids) {
    const auto id = task_id_of(client, typed);
    if (id) {
      retry_one(client, *id, options.attempts, answers);
    } else {
      answers.failed(typed, id.error());
    }
  }
  return answers.status();
}

int task_cancel(const CancelOptions& options) {
  const auto session = TaskSession::open(options.place, false);
  if (!session) return refuse("task cancel", session.error(), options.json);
  Answers answers("task cancel", options.json);
  for (const std::string& typed : options.ids) {
    const auto whole = task_id_of((*session)->client(), typed);
    const std::string& id = whole ? *whole : typed;
    const auto outcome = whole ? (*session)->client().cancel(id) : fail(whole.error());
    if (!outcome) {
      answers.failed(id, outcome.error());
    } else if (*outcome == CancelOutcome::cancelled) {
      answers.done(id, name_of(*outcome));
    } else if (*outcome == CancelOutcome::committed) {
      answers.negative(id, name_of(*outcome), "has committed; its effects are there");
    } else {
      answers.negative(id, name_of(*outcome), "is over already");
    }
  }
  return answers.status();
}

int task_prune(const PruneOptions& options) {
  const auto age = parse_whole_seconds(options.older_than);
  if (!age) return refuse("task prune", about_flag(age.error(), "--older-than").value(), options.json);
  const auto session = TaskSession::open(options.place, false);
  if (!session) return refuse("task prune", session.error(), options.json);
  const PruneRequest request{.over_before = now((*session)->clock()) - *age, .state = options.state};
  std::size_t removed = 0;
  for (std::size_t last = request.limit; last == request.limit; removed += last) {
    const auto count = (*session)->client().prune(request);
    if (!count) return refuse("task prune", count.error(), options.json);
    last = *count;
  }
  std::printf(options.json ? "{\"removed\":%zu}\n" : "%zu removed\n", removed);
  return 0;
}

}  // namespace kron::cli
