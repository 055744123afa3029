#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kron/queue/task_queue.h"

namespace kron {

// Decides on tasks that arrive together, each with those before it in mind. Changes nothing but its own memory.
class Admission {
 public:
  using TaskById = std::function<Result<std::optional<NewTask>>(std::string_view id)>;
  using HolderOfKey = std::function<std::optional<std::string>(std::string_view unique_key)>;

  Admission(TaskById known, HolderOfKey holder) : known_(std::move(known)), holder_(std::move(holder)) {}

  // `task` is checked and outlives the Admission.
  Result<SubmitAnswer> admit(const NewTask& task);

 private:
  TaskById known_;
  HolderOfKey holder_;
  std::map<std::string_view, const NewTask*> accepted_;
  std::map<std::string_view, const NewTask*> keys_;
};

}  // namespace kron
