#pragma once

#include <string>

namespace kron {

// Work for a queue: what a run of some jobs is, instead of a process.
struct TaskToSubmit {
  std::string id;  // the same for every repetition: a queue takes it once
  std::string type;
  std::string data;  // JSON

  bool operator==(const TaskToSubmit&) const = default;
};

}  // namespace kron
