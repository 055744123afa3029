#include "kron/queue/task_queue.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "kron/base/text.h"
#include "kron/core/words.h"

namespace kron {
namespace {

constexpr std::array kSubmitOutcomes{
    Word{SubmitOutcome::accepted, "accepted"},
    Word{SubmitOutcome::already_known, "already_known"},
    Word{SubmitOutcome::duplicate, "duplicate"},
    Word{SubmitOutcome::conflict, "conflict"},
};

constexpr std::array kCancelOutcomes{
    Word{CancelOutcome::cancelled, "cancelled"},
    Word{CancelOutcome::committed, "committed"},
    Word{CancelOutcome::already_over, "already_over"},
};

constexpr std::array kRetryOutcomes{
    Word{RetryOutcome::retried, "retried"},
    Word{RetryOutcome::not_failed, "not_failed"},
};

// Whoever lists effects/ must be able to trust the names: a newline makes two of one, an escape commands a terminal.
bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0 || first < 0x20 || first == 0x7f) return false;
    // U+0080 to U+009F are control characters, too.
    if (length == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_staged_path(std::string_view path) {
  if (path.empty() || path.size() > 1024 || path.find('\0') != std::string_view::npos) return false;
  std::size_t names = 0;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
    if (++names > kMostStagedDepth) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

// Whether a file's name is also that of a directory another file lies in, or is given twice.
bool has_clashes(std::span<const StagedFile> files) {
  std::vector<std::string> paths;
  for (const StagedFile& file : files) paths.push_back(file.path + "/");
  std::ranges::sort(paths);
  return std::ranges::adjacent_find(
             paths, [](const std::string& a, const std::string& b) { return b.starts_with(a); }) != paths.end();
}

}  // namespace

std::string_view name_of(SubmitOutcome outcome) { return word_of(outcome, kSubmitOutcomes); }
std::string_view name_of(CancelOutcome outcome) { return word_of(outcome, kCancelOutcomes); }
std::string_view name_of(RetryOutcome outcome) { return word_of(outcome, kRetryOutcomes); }

Status check_lease_request(const LeaseRequest& request) {
  if (Status good = check_worker_name(request.worker); !good) return good;
  if (request.count < 1 || request.count > kMostLeases) {
    return fail(Code::invalid, "a request is for 1 to " + std::to_string(kMostLeases) + " leases", "n");
  }
  if (request.term < Seconds(1) || request.term > kMostLeaseTerm) {
    return fail(Code::invalid, "a lease lasts from 1s to 1d", "term");
  }
  if (request.types.size() > 100) return fail(Code::invalid, "at most 100 types in one request", "types");
  for (const std::string& type : request.types) {
    if (Status good = check_task_type(type); !good) return good;
  }
  return {};
}

Status check_result(std::string_view result) {
  if (result.size() <= kMostResultBytes && is_valid_utf8(result)) return {};
  return fail(Code::invalid,
              "a result is UTF-8 text of at most " + std::to_string(kMostResultBytes) + " bytes; stage a file instead",
              "result");
}

Status check_staged_files(std::span<const StagedFile> files) {
  if (files.size() > kMostStagedFiles) {
    return fail(Code::invalid, "more than " + std::to_string(kMostStagedFiles) + " staged files; pack them", "files");
  }
  std::size_t bytes = 0;
  for (const StagedFile& file : files) {
    if (!is_staged_path(file.path)) {
      return fail(Code::invalid,
                  "invalid path of a staged file " + quoted(file.path) + ": use a relative path of at most " +
                      std::to_string(kMostStagedDepth) + " names without '.' and '..'",
                  "files");
    }
    bytes += file.bytes.size();
  }
  if (bytes > kMostStagedBytes) {
    return fail(Code::invalid, "staged files of more than " + std::to_string(kMostStagedBytes) + " bytes", "files");
  }
  if (has_clashes(files)) return fail(Code::invalid, "two staged files have the same path", "files");
  return {};
}

Status check_published_names(std::span<const StagedFile> files) {
  const auto bad = std::ranges::find_if(files, [](const StagedFile& file) { return !is_printable(file.path); });
  if (bad == files.end()) return {};
  return fail(Code::invalid,
              "invalid name of a staged file " + quoted(bad->path) +
                  ": use printable UTF-8, without newlines and other control characters",
              "files");
}

Result<SubmitAnswer> TaskQueue::submit(const NewTask& task) { return std::move(submit(std::span(&task, 1)).front()); }
Result<std::vector<Lease>> TaskQueue::lease(const LeaseRequest& request) {
  return std::move(lease(std::span(&request, 1)).front());
}
std::vector<Result<Task>> TaskQueue::get_all(std::span<const std::string> task_ids) {
  std::vector<Result<Task>> answers;
  for (const std::string& id : task_ids) answers.push_back(get(id));
  return answers;
}
Result<LeaseOutcome> TaskQueue::start(const LeaseKey& key) { return std::move(start(std::span(&key, 1)).front()); }
std::vector<Result<LeaseOutcome>> TaskQueue::renew_all(std::span<const LeaseKey> keys) {
  std::vector<Result<LeaseOutcome>> answers;
  for (const LeaseKey& key : keys) answers.push_back(renew(key));
  return answers;
}
std::vector<Result<CancelOutcome>> TaskQueue::cancel_all(std::span<const std::string> task_ids) {
  std::vector<Result<CancelOutcome>> answers;
  for (const std::string& id : task_ids) answers.push_back(cancel(id));
  return answers;
}
std::vector<Result<RetryOutcome>> TaskQueue::retry_all(std::span<const RetryRequest> requests) {
  std::vector<Result<RetryOutcome>> answers;
  for (const RetryRequest& request : requests) answers.push_back(retry(request.task_id, request.attempts));
  return answers;
}
QueueRoundAnswers TaskQueue::do_round(const QueueRound& round) {
  QueueRoundAnswers answers;
  answers.submits = submit(std::span<const NewTask>(round.submits));
  answers.starts = start(std::span<const LeaseKey>(round.starts));
  answers.renewals = renew_all(round.renewals);
  answers.commits = commit(std::span<const CommitRequest>(round.commits));
  answers.fails = fail_attempts(round.fails);
  answers.leases = lease(std::span<const LeaseRequest>(round.leases));
  return answers;
}
Result<CommitAnswer> TaskQueue::commit(const CommitRequest& request) {
  return std::move(commit(std::span(&request, 1)).front());
}
Result<FailAnswer> TaskQueue::fail_attempt(const FailRequest& request) {
  return std::move(fail_attempts(std::span(&request, 1)).front());
}

Result<std::vector<Task>> TaskQueue::list(const TaskFilter& filter) {
  std::vector<Task> tasks;
  TaskFilter rest = filter;
  while (tasks.size() < filter.limit) {
    rest.limit = filter.limit - tasks.size();
    const auto scan = begin_list(rest);
    Result<std::optional<TaskPage>> page = std::nullopt;
    while (page && !*page) page = scan->next_part();
    if (!page) return fail(page.error());
    std::ranges::move(**page, std::back_inserter(tasks));
    if ((*page)->next.empty()) break;
    rest.after = (*page)->next;
  }
  return tasks;
}

Result<std::size_t> TaskQueue::prune(const PruneRequest& request) {
  const auto scan = begin_prune(request);
  Result<bool> is_done = false;
  while (is_done && !*is_done) is_done = scan->next_part();
  if (!is_done) return fail(is_done.error());
  return scan->removed();
}

}  // namespace kron
