#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/run_usage.h"

namespace kron::metrics {

enum class RunEnd : std::uint8_t { succeeded, failed, timed_out, unknown };
std::string_view name_of(RunEnd end);

struct TaskCount {
  std::string state;  // in any case
  std::string type;
  std::size_t count = 0;
};

// Of a pool, or, without a name, of the host.
struct SlotLevels {
  std::string pool;
  std::size_t slots = 0;
  std::size_t used = 0;
  std::size_t waiting = 0;
};

// Of a krond in a cluster.
struct ClusterLevels {
  bool link_up = false;
  std::uint64_t reconnects = 0;   // since krond started, as the next
  std::uint64_t lost_writes = 0;  // that Redis was found to have forgotten
  double clock_offset = 0;        // seconds that the cluster's clock is ahead of the machine's
  std::vector<std::pair<std::string, std::uint64_t>> answers = {};    // of Redis to steps, by their words
  std::vector<std::pair<std::string, std::uint64_t>> host_runs = {};  // that go on, by instance
};

// What is so at the moment of a scrape.
struct Levels {
  bool ready = false;
  std::size_t jobs = 0;
  std::size_t running = 0;
  std::optional<Instant> next_due = {};
  std::vector<TaskCount> tasks = {};
  std::vector<TaskCount> tasks_ended = {};          // since krond started
  std::optional<Seconds> oldest_pending_task = {};  // its age; none: no task is pending
  bool has_shared_tasks = false;                    // every host of the cluster tells of the same ones
  std::size_t event_streams = 0;
  std::vector<SlotLevels> slots = {};  // of what is limited
  std::optional<ClusterLevels> cluster = {};
};

inline constexpr std::size_t kMostTaskTypes = 100;  // those beyond count as one type, "other"

// What krond has done since it started, for Prometheus. Every method may be called from any thread.
class Metrics {
 public:
  Metrics(std::string_view version, Instant started);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // In the words of core/state.h; an executed period counts when its run starts.
  void period_ended(std::string_view outcome, std::string_view reason);
  void run_started(Nanoseconds lateness);                           // behind its chosen time
  void run_ended(RunEnd end, std::optional<Nanoseconds> duration);  // none: nobody saw it start or end
  void run_used(const RunUsage& used);
  void run_tried_again(std::uint32_t times);  // its command, within the run
  void job_paused_by_failures();
  void ledger_batch(std::size_t records, Nanoseconds write);
  void reloaded(bool ok);
  void pinged(std::string_view result);  // sent, failed, no_room
  // `route` is a pattern such as "GET /api/v1/jobs/{name}", never a path with a name in it: each is a series for ever.
  void api_request(std::string_view route, int status, Nanoseconds took);

  // The text exposition format 0.0.4.
  std::string text(const Levels& levels) const;

 private:
  struct Instruments;
  std::unique_ptr<Instruments> instruments_;
};

inline constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace kron::metrics
