#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kron/log/line_log.h"
#include "task_client.h"
#include "task_place.h"

namespace kron::cli {

// What one `kron task` command holds while it works: the clock, a log of what recovery finds amiss, the client.
class TaskSession {
 public:
  // `may_make`: a data directory that is not there is made.
  static Result<std::unique_ptr<TaskSession>> open(const TaskPlaceOptions& options, bool may_make);

  TaskClient& client() { return *client_; }
  const Clock& clock() const { return clock_; }

 private:
  TaskSession();

  RealClock clock_;
  LineLog log_;
  std::unique_ptr<TaskClient> client_;
};

// {"taskId":…,"outcome":…}, with "line" in front when it is not 0.
std::string outcome_json(std::string_view task_id, std::string_view outcome, std::size_t line = 0);
// {"line":…,"taskId":…,"error":{…}}, without the line when it is 0 and without the task when it is empty.
std::string task_error_json(std::string_view task_id, const Error& error, std::size_t line = 0);

}  // namespace kron::cli
