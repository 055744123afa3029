#include "task_api_queue.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <sys/epoll.h>

#include "daemon_client.h"
#include "kron/base/duration.h"
#include "kron/env/system_error.h"
#include "kron/http/multipart.h"
#include "kron/queue/answers.h"
#include "kron/queue/tar.h"
#include "kron/queue/task_file.h"
#include "task_api_json.h"

namespace kron::cli {
namespace {

constexpr std::size_t kGroupTasks = 256;
constexpr std::size_t kGroupBytes = std::size_t{8} << 20;
constexpr std::size_t kTasksAtOnce = 1000;

Result<std::string> body_of(http::Response response, const http::Endpoint& krond) {
  const bool is_answer = response.status == 409 && response.content_type.starts_with("application/json");
  if (response.status < 300 || is_answer) return std::move(response.body);
  return fail(refusal_in(response, krond));
}

std::string lease_target(const LeaseKey& key, std::string_view verb) {
  return Target("leases").segment(key.exec_id).segment(verb).text();
}

std::string task_target(std::string_view task_id, std::string_view verb) {
  return Target("tasks").segment(task_id).segment(verb).text();
}

}  // namespace

ApiQueue::ApiQueue(http::Endpoint krond, Seconds patience, const Clock& clock, Descriptor wakeup)
    : clock_(clock),
      krond_(std::move(krond)),
      patience_(patience),
      calls_(krond_, client_options(krond_)),
      poll_(krond_, client_options(krond_)),
      wakeup_(std::move(wakeup)) {}

Result<std::unique_ptr<ApiQueue>> ApiQueue::open(http::Endpoint krond, Seconds patience, const Clock& clock) {
  Descriptor wakeup(::epoll_create1(EPOLL_CLOEXEC));
  if (!wakeup) return fail(system_error("make", "an epoll", errno));
  return std::unique_ptr<ApiQueue>(new ApiQueue(std::move(krond), patience, clock, std::move(wakeup)));
}

Result<std::string> ApiQueue::ask(std::string_view method, const std::string& target, std::string body,
                                  http::Fields headers) {
  auto response = calls_.request(method, target, std::move(body), std::move(headers));
  if (!response) return fail(response.error());
  return body_of(*std::move(response), krond_);
}

void ApiQueue::submit_group(std::span<const NewTask> tasks, std::vector<Result<SubmitAnswer>>& answers) {
  const auto body = ask("POST", Target("tasks").text(), submit_json(tasks));
  auto group = body ? submit_answers_in(*body, tasks.size()) : fail(body.error());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    answers.push_back(group ? std::move((*group)[i]) : Result<SubmitAnswer>(fail(group.error())));
  }
}

std::vector<Result<SubmitAnswer>> ApiQueue::submit(std::span<const NewTask> tasks) {
  std::vector<Result<SubmitAnswer>> answers;
  while (!tasks.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < std::min(tasks.size(), kGroupTasks); ++count) {
      bytes += tasks[count].data.size();
      if (count > 0 && bytes > kGroupBytes) break;
    }
    submit_group(tasks.first(count), answers);
    tasks = tasks.subspan(count);
  }
  return answers;
}

// What is no id is no part of a path either.
Result<Task> ApiQueue::get(std::string_view task_id) {
  if (!check_task_id(task_id)) return fail(no_such_task(task_id));
  const auto body = ask("GET", Target("tasks").segment(task_id).text());
  if (!body) return fail(body.error());
  return parse_task(*body, task_id);
}

Result<std::vector<Task>> ApiQueue::list(const TaskFilter& filter) {
  std::vector<Task> tasks;
  std::string after = filter.after;
  while (tasks.size() < filter.limit) {
    Target target("tasks");
    if (filter.state) target.parameter("state", name_of(*filter.state));
    target.parameter("type", filter.type).parameter("after", after);
    target.parameter("limit", std::to_string(std::min(filter.limit - tasks.size(), kTasksAtOnce)));
    const auto body = ask("GET", target.text());
    if (!body) return fail(body.error());
    auto page = task_page_in(*body);
    if (!page) return fail(page.error());
    std::ranges::move(page->tasks, std::back_inserter(tasks));
    if (page->next.empty()) break;
    after = page->next;
  }
  return tasks;
}

Result<RetryOutcome> ApiQueue::retry(std::string_view task_id, int attempts) {
  if (!check_task_id(task_id)) return fail(no_such_task(task_id));
  const auto body = ask("POST", task_target(task_id, "retry"), "{\"attempts\":" + std::to_string(attempts) + "}");
  if (!body) return fail(body.error());
  return retry_outcome_in(*body);
}

Result<CancelOutcome> ApiQueue::cancel(std::string_view task_id) {
  if (!check_task_id(task_id)) return fail(no_such_task(task_id));
  const auto body = ask("POST", task_target(task_id, "cancel"));
  if (!body) return fail(body.error());
  return cancel_outcome_in(*body);
}

Result<std::size_t> ApiQueue::prune(const PruneRequest& request) {
  const auto body = ask("POST", Target("tasks").segment("prune").text(), prune_json(request, now(clock_)));
  if (!body) return fail(body.error());
  return removed_in(*body);
}

Status ApiQueue::begin_waiting(const LeaseRequest& request) {
  const Status begun = poll_.begin("POST", Target("leases").text(), lease_json(request, patience_));
  if (!begun) return begun;
  waits_on_ = poll_.descriptor();
  epoll_event event{.events = EPOLLIN, .data = {.fd = waits_on_}};
  if (::epoll_ctl(wakeup_.get(), EPOLL_CTL_ADD, waits_on_, &event) != 0) {
    return fail(system_error("watch", "the connection to krond", errno));
  }
  is_waiting_ = true;
  return {};
}

void ApiQueue::end_waiting() {
  // A connection that was closed has left by itself.
  ::epoll_ctl(wakeup_.get(), EPOLL_CTL_DEL, waits_on_, nullptr);
  is_waiting_ = false;
}

Result<std::vector<Lease>> ApiQueue::lease(const LeaseRequest& request) {
  if (patience_ == Seconds(0)) {
    const auto body = ask("POST", Target("leases").text(), lease_json(request, patience_));
    return body ? leases_in(*body) : fail(body.error());
  }
  while (true) {
    if (!is_waiting_) {
      if (Status begun = begin_waiting(request); !begun) return fail(begun.error());
    }
    auto response = poll_.poll();
    if (!response) return std::vector<Lease>();
    end_waiting();
    if (!*response) return fail(response->error());
    const auto body = body_of(**std::move(response), krond_);
    auto leases = body ? leases_in(*body) : fail(body.error());
    // None came in all that time: the next wait begins.
    if (!leases || !leases->empty()) return leases;
  }
}

void ApiQueue::stop_leasing() {
  if (!is_waiting_) return;
  auto response = poll_.poll();
  end_waiting();
  if (!response) {
    // krond sees that nobody waits any more, and leases nothing to us.
    poll_ = http::Client(krond_, client_options(krond_));
    return;
  }
  const auto body = *response ? body_of(**std::move(response), krond_) : fail(response->error());
  const auto leases = body ? leases_in(*body) : fail(body.error());
  if (!leases) return;
  for (const Lease& lease : *leases) {
    // Best effort: a lease that cannot be given back runs out.
    static_cast<void>(fail_attempts({{{lease.key, "the worker was stopped", false}}}));
  }
}

Result<LeaseOutcome> ApiQueue::renew(const LeaseKey& key) {
  const auto body = ask("POST", lease_target(key, "renew"), token_json(key));
  if (!body) return fail(body.error());
  return lease_outcome_in(*body);
}

Result<std::string> ApiQueue::send_commit(const CommitRequest& request, const LeaseRequest* then) {
  // Here, because JSON cannot carry a result that is no UTF-8: krond would be sent another one, and take it.
  if (Status good = check_commit(request); !good) return fail(good.error());
  std::string text = commit_json(request, then);
  http::Fields headers;
  if (!request.files.empty()) {
    const std::array parts{http::Part{"commit", "application/json", "", std::move(text)},
                           http::Part{"output", "application/x-tar", "output.tar", write_tar(request.files)}};
    http::MultipartBody whole = http::multipart_body(parts);
    headers.emplace_back("Content-Type", std::move(whole.content_type));
    text = std::move(whole.bytes);
  }
  return ask("POST", lease_target(request.key, "commit"), std::move(text), std::move(headers));
}

Result<CommitAnswer> ApiQueue::commit_one(const CommitRequest& request) {
  const auto body = send_commit(request, nullptr);
  if (!body) return fail(body.error());
  return commit_answer_in(*body);
}

std::vector<Result<CommitAnswer>> ApiQueue::commit(std::span<const CommitRequest> requests) {
  std::vector<Result<CommitAnswer>> answers;
  for (const CommitRequest& request : requests) answers.push_back(commit_one(request));
  return answers;
}

CommitsAndLeases ApiQueue::commit_and_lease(std::span<const CommitRequest> requests, const LeaseRequest& then) {
  // Who waits for leases already would get them twice.
  if (requests.empty() || is_waiting_ || !leases_with_commits_) return {commit(requests)};
  CommitsAndLeases answers{commit(requests.first(requests.size() - 1))};
  const bool has_room = std::ranges::all_of(answers.commits, [](const auto& answer) { return answer.has_value(); });
  const auto body = send_commit(requests.back(), has_room ? &then : nullptr);
  if (!body && body.error().code == Code::invalid && body.error().field == "lease") {
    leases_with_commits_ = false;
    answers.commits.push_back(commit_one(requests.back()));
    return answers;
  }
  answers.commits.push_back(body ? commit_answer_in(*body) : fail(body.error()));
  if (!answers.commits.back() || !has_room) return answers;
  // None is ready: lease() waits for some.
  if (auto leases = leases_in(*body); !leases || !leases->empty()) answers.leases = std::move(leases);
  return answers;
}

std::vector<Result<FailAnswer>> ApiQueue::fail_attempts(std::span<const FailRequest> requests) {
  std::vector<Result<FailAnswer>> answers;
  for (const FailRequest& request : requests) {
    const auto body = ask("POST", lease_target(request.key, "fail"), fail_json(request));
    answers.push_back(body ? fail_answer_in(*body) : fail(body.error()));
  }
  return answers;
}

Result<bool> ApiQueue::has_left(std::span<const std::string> types) {
  const std::vector<std::string> asked =
      types.empty() ? std::vector<std::string>{""} : std::vector(types.begin(), types.end());
  for (const std::string& type : asked) {
    // In this order a task that is leased meanwhile, perhaps to us, is seen, and so is one that is given back.
    for (const TaskState state : {TaskState::pending, TaskState::running, TaskState::pending}) {
      const auto found = list({.state = state, .type = type, .limit = 1});
      if (!found) return fail(found.error());
      if (!found->empty()) return true;
    }
  }
  return false;
}

}  // namespace kron::cli
