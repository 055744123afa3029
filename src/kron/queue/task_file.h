#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/queue/task.h"

// The bytes and the names of tasks on disk: seed 002's JSON with the additions of the contract (docs/formats.md).
namespace kron {

// No task that keeps the limits makes a larger file.
inline constexpr std::size_t kMostTaskFileBytes = std::size_t{24} << 20;

std::string task_file_name(std::string_view task_id);  // "<id>.json"
// The id a file name stands for; nothing when it is no task's.
std::optional<std::string_view> task_of_file_name(std::string_view name);

// One JSON object: the members that are the submitter's, as parse_new_task reads them.
std::string new_task_text(const NewTask& task);

// One JSON object and a newline.
std::string task_text(const Task& task);

// Reads what task_text wrote, and what seed 002 describes. Code invalid: not a task, or not that of `task_id`. Unknown
// members are passed over. `state` is checked to be one of its words, and otherwise left to the directory; a COMPLETED
// task without executions counts as done.
Result<Task> parse_task(std::string_view text, std::string_view task_id);

}  // namespace kron
