#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kron/env/file_system.h"
#include "kron/queue/task_queue.h"

// How far FileQueue has come with its scans. Only FileQueue looks into them.
namespace kron {

// What a part of a scan may cost: a name of a directory costs some microseconds, a task that is read some ten times
// that.
inline constexpr std::size_t kNamesAtOnce = 1'000;
inline constexpr std::size_t kReadsAtOnce = 32;

// One page of a list. First the ids are found that come next, and of a filtered list only as many as may be looked at;
// then those tasks are read, in order.
struct ListProgress {
  TaskFilter filter;
  std::size_t most_ids = 0;
  std::unique_ptr<NameReader> names = {};  // of completed/
  bool has_ids = false;                    // all of them
  std::set<std::string> ids = {};          // the first behind `after` that are not yet looked at
  bool is_cut = false;                     // there are more ids than were kept
  std::vector<std::string> ended = {};     // tasks that were completed meanwhile: the names may or may not show them
  std::string last = {};                   // the id that was looked at last
  std::size_t bytes = 0;
  TaskPage page = {};
};

// Removes finished tasks as a prune asks.
struct PruneProgress {
  PruneRequest request;
  std::unique_ptr<NameReader> names = {};
  std::size_t removed = 0;
};

// Removes finished tasks that are too old or too many. First it counts them by the hour in which they were written,
// then it removes what is older than the retention allows, and of the oldest hours what is too many.
struct RetentionProgress {
  TaskRetention keeps;
  Instant now;                             // when it began
  std::unique_ptr<NameReader> names = {};  // of completed/
  bool has_counted = false;
  std::map<std::int64_t, std::size_t> written_in = {};  // hours since 1970
  std::size_t total = 0;
  std::size_t too_many = 0;     // how many must still go because of the number
  std::int64_t last_hour = -1;  // those of a later one are not too many
  std::size_t removed = 0;
};

}  // namespace kron
