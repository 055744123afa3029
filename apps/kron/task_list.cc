#include <algorithm>
#include <cstdio>

#include "flag_values.h"
#include "id_prefix.h"
#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/queue/task_file.h"
#include "kron/queue/transitions.h"
#include "lines.h"
#include "task_session.h"
#include "task_verbs.h"

namespace kron::cli {
namespace {

constexpr std::size_t kShownBytes = 2000;
constexpr std::size_t kListedAtOnce = 1000;

constexpr std::size_t kStateWidth = 9;

// FAILED is the word of the file for whatever did not succeed. People are told what was cancelled.
std::string_view shown_state(const Task& task) { return is_cancelled(task) ? "CANCELLED" : name_of(state_of(task)); }

std::string out_of(int attempts, const Task& task, const char* between) {
  return std::to_string(attempts) + between + std::to_string(task.spec.retry.max_attempts);
}

// Why it is where it is, as far as its last attempt tells.
std::string reason_of(const Task& task) {
  if (task.executions.empty() || task.executions.back().reason.empty()) return "";
  return quoted(task.executions.back().reason, 60);
}

// On a terminal with heads, and with CANCELLED as a state. Elsewhere a line is for programs and has the words of the
// file, as it always had.
void print_table(const std::vector<Task>& tasks, const ScreenTimes& times) {
  const bool for_people = times.is_for_people();
  std::size_t id_width = 4;
  std::size_t type_width = 4;
  std::size_t updated_width = 0;
  for (const Task& task : tasks) {
    updated_width = std::max(updated_width, times.near(task.updated_at).size());
    id_width = std::max(id_width, task.spec.id.size());
    type_width = std::max(type_width, task.spec.type.size());
  }
  const auto padded = [](std::string_view text, std::size_t width) {
    return std::string(text).append(width - std::min(width, text.size()), ' ');
  };
  const auto row = [&](std::string_view id, std::string_view type, std::string_view state, std::string_view attempts,
                       std::string_view updated, std::string_view reason) {
    std::string line =
        padded(id, id_width) + "  " + padded(type, type_width) + "  " + padded(state, kStateWidth) + "  ";
    line.append(5 - std::min<std::size_t>(5, attempts.size()), ' ').append(attempts).append("  ").append(updated);
    if (!reason.empty()) line.append("  ").append(reason);
    std::printf("%s\n", line.c_str());
  };
  if (for_people && !tasks.empty()) row("TASK", "TYPE", "STATE", "TRIED", padded("UPDATED", updated_width), "REASON");
  for (const Task& task : tasks) {
    const auto recorded = static_cast<int>(task.executions.size());
    row(task.spec.id, task.spec.type, for_people ? shown_state(task) : name_of(state_of(task)),
        out_of(for_people ? attempts_of(task) : recorded, task, "/"),
        padded(times.near(task.updated_at), updated_width), reason_of(task));
  }
}

void line(const char* name, const std::string& value) {
  if (!value.empty()) std::printf("%-11s %s\n", name, value.c_str());
}

std::string time_text(const ScreenTimes& times, const std::optional<Instant>& time) {
  return time ? times.near(*time) : "";
}

// The other side of the worker's words may hold anything: it is shown, not obeyed by the terminal.
std::string shown(std::string_view text) { return text.empty() ? "" : quoted(text, kShownBytes); }

void print_execution(const Execution& e, const ScreenTimes& times) {
  const std::string_view status = name_of(e.status);
  std::printf("  %3d  %-11.*s  %s  %s", e.attempt, static_cast<int>(status.size()), status.data(),
              times.at(e.leased_at).c_str(), e.finished_at ? times.at(*e.finished_at).c_str() : "…");
  if (!e.lease_owner.empty()) std::printf("  by %s", kron::quoted(e.lease_owner).c_str());
  if (!e.reason.empty()) std::printf("  %s", shown(e.reason).c_str());
  std::printf("\n");
}

void print_task(const Task& task, const ScreenTimes& times) {
  const NewTask& spec = task.spec;
  line("task", spec.id);
  line("type", spec.type);
  line("state", std::string(shown_state(task)));
  line("attempts", out_of(attempts_of(task), task, " of "));
  line("priority", std::to_string(spec.priority));
  line("created", times.near(task.created_at));
  line("updated", times.near(task.updated_at));
  line("run at", time_text(times, spec.run_at));
  line("back-off", duration_text(spec.retry.backoff) + " to " + duration_text(spec.retry.most_backoff));
  line("timeout", spec.timeout ? duration_text(*spec.timeout) : "");
  line("unique key", shown(spec.unique_key));
  line("data", shown(spec.data));
  line("result", shown(task.result));
  line("output", task.staging.empty() ? "" : "effects/" + spec.id);
  for (const NewTask& follow_up : task.follow_ups) line("follow-up", follow_up.id);
  for (const Execution& execution : task.executions) print_execution(execution, times);
}

}  // namespace

int task_list(const ListOptions& options) {
  const auto session = TaskSession::open(options.place, false);
  if (!session) return refuse("task list", session.error(), options.json);
  TaskFilter filter{.state = options.state, .type = options.type, .after = options.after};
  const ScreenTimes times = screen_times(options.times);
  std::vector<Task> tasks;
  for (std::size_t left = options.limit; left > 0; left -= tasks.size()) {
    filter.limit = std::min(left, kListedAtOnce);
    auto page = (*session)->client().list(filter);
    if (!page) return refuse("task list", page.error(), options.json);
    tasks = *std::move(page);
    if (options.json) {
      for (const Task& task : tasks) std::fputs(task_text(task).c_str(), stdout);
    } else {
      print_table(tasks, times);
    }
    if (tasks.size() < filter.limit) return 0;
    filter.after = tasks.back().spec.id;
  }
  std::fprintf(stderr, "kron task list: there may be more: --after %s\n", filter.after.c_str());
  return 0;
}

int task_show(const ShowOptions& options) {
  const auto session = TaskSession::open(options.place, false);
  if (!session) return refuse("task show", session.error(), options.json);
  const auto id = task_id_of((*session)->client(), options.id);
  if (!id) return refuse("task show", id.error(), options.json);
  const auto task = (*session)->client().get(*id);
  if (!task) return refuse("task show", task.error(), options.json);
  if (options.json) {
    std::fputs(task_text(*task).c_str(), stdout);
  } else {
    print_task(*task, screen_times(options.times));
  }
  return 0;
}

}  // namespace kron::cli
