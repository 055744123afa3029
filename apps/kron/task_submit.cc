#include <algorithm>
#include <cstdio>

#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/jobs/disk.h"
#include "lines.h"
#include "task_ids.h"
#include "task_session.h"
#include "task_verbs.h"

namespace kron::cli {
namespace {

constexpr char kSubmit[] = "task submit";

Result<Seconds> duration_flag(const std::string& text, std::string_view flag, Seconds otherwise) {
  if (text.empty()) return otherwise;
  auto duration = parse_whole_seconds(text);
  if (!duration) return about_flag(duration.error(), flag);
  return duration;
}

Result<std::string> data_of(const SubmitOptions& options) {
  if (options.data_file.empty() && options.data != "-") return options.data;
  const std::string path = options.data_file.empty() ? "-" : options.data_file;
  auto text = jobs::contents_of(path);
  if (!text) return fail(text.error().code, path + ": " + text.error().message);
  return text;
}

Result<std::optional<Instant>> run_at_of(const SubmitOptions& options, Instant now) {
  if (!options.delay.empty()) {
    const auto delay = duration_flag(options.delay, "--delay", Seconds(0));
    if (!delay) return fail(delay.error());
    return now + std::min(*delay, kMostTaskDuration);
  }
  if (options.run_at.empty()) return std::nullopt;
  const auto time = time_flag(options.run_at, "--run-at", now);
  if (!time) return fail(time.error());
  return *time;
}

Result<NewTask> task_of(const SubmitOptions& options) {
  auto data = data_of(options);
  if (!data) return fail(data.error());
  const auto run_at = run_at_of(options, present());
  if (!run_at) return fail(run_at.error());
  const auto backoff = duration_flag(options.backoff, "--backoff", RetryPolicy{}.backoff);
  if (!backoff) return fail(backoff.error());
  const auto most_backoff = duration_flag(options.most_backoff, "--max-backoff", RetryPolicy{}.most_backoff);
  if (!most_backoff) return fail(most_backoff.error());
  const auto timeout = duration_flag(options.timeout, "--timeout", Seconds(0));
  if (!timeout) return fail(timeout.error());
  return checked({.id = options.id.empty() ? new_task_id(options.type) : options.id,
                  .type = options.type,
                  .data = *std::move(data),
                  .priority = options.priority,
                  .run_at = *run_at,
                  .retry = {options.max_attempts, *backoff, *most_backoff},
                  .timeout = options.timeout.empty() ? std::nullopt : std::optional(*timeout),
                  .unique_key = options.unique_key});
}

}  // namespace

int task_submit(const SubmitOptions& options) {
  const auto task = task_of(options);
  if (!task) return refuse(kSubmit, task.error(), options.json);
  const auto session = TaskSession::open(options.place, true);
  if (!session) return refuse(kSubmit, session.error(), options.json);
  const auto answer = (*session)->client().submit({&*task, 1}).front();
  if (!answer) return refuse(kSubmit, answer.error(), options.json);
  const std::string_view outcome = name_of(answer->outcome);
  if (options.json) {
    std::printf("%s\n", outcome_json(answer->task_id, outcome).c_str());
  } else {
    std::printf("%.*s %s\n", static_cast<int>(outcome.size()), outcome.data(), answer->task_id.c_str());
  }
  if (answer->outcome != SubmitOutcome::conflict) return 0;
  const Error conflict{Code::conflict,
                       "task " + task->id + " is there with another payload; choose another id, or leave --id out"};
  return options.json ? exit_status(conflict.code) : complain(kSubmit, conflict);
}

}  // namespace kron::cli
