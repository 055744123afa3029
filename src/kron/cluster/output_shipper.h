#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kron/cluster/active_runs.h"
#include "kron/cluster/dialect.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/runner/output_tail.h"

namespace kron::cluster {

// Brings to Redis what runs write, whole lines at a time, and how they ended. The file of a run's output is the buffer,
// also while Redis is away; here is never more than a few chunks. The end of a run follows its last line, and is
// repeated until Redis has answered: then its claim file goes. A service that is stepped, by one thread of its own;
// answers come on the link's thread, and only wake it.
class OutputShipper {
 public:
  struct Options {
    std::string runs_directory = {};             // <state-dir>/runs
    std::string host = {};                       // as rundata names it
    std::function<std::string()> instance = {};  // as the outcomes name it; asked on the shipper's thread
    Dialect dialect = Dialect::seed;
    Nanoseconds cadence = std::chrono::seconds(1);  // what was written is in Redis after this at the latest
    std::size_t chunk = std::size_t{64} << 10;      // bytes of a run that one command takes, or one line
    std::uint32_t final_lines = 10;                 // of output, in rundata
    std::uint64_t general_cap = 10'000;
    std::uint64_t job_cap = 1'000;
    std::uint64_t outcomes_cap = 100'000;
    Seconds output_ttl{86'400};
  };
  // All of them outlive it; answers that come later are dropped.
  OutputShipper(ActiveRuns& runs, Link& link, Keys keys, const Clock& clock, Log& log, Options options);
  ~OutputShipper();
  OutputShipper(const OutputShipper&) = delete;
  OutputShipper& operator=(const OutputShipper&) = delete;

  // Sends what there is, a limited part at a time. How long the next step can wait.
  Nanoseconds tick();

  // Called on the link's thread when an answer has come: tick() has something to do. Set before the first step.
  void on_answer(std::function<void()> wake);

 private:
  using Lines = std::vector<runner::LineTail::Line>;

  // Runs that go on, and runs that are over, do not wait for each other: an end frees a lock.
  struct Lane {
    std::deque<std::string> ready;  // to be looked at
    std::size_t under_way = 0;      // bytes that no answer has come for
  };

  struct Shipped {
    explicit Shipped(runner::LineTail from, Lane& first) : tail(std::move(from)), lane(&first) {}

    runner::LineTail tail;
    Lane* lane;
    bool is_ready = false;         // is in the lane's list
    std::deque<std::string> last;  // lines, for the final rundata
    std::size_t last_bytes = 0;
    std::uint64_t lines_there = 0;  // in Redis
    Lines chunk;                    // under way, or to be sent again
    Lane* asked = nullptr;          // an answer is awaited, and counted there
    std::size_t asked_bytes = 0;
    bool is_end = false;  // it is the answer to the end
    int refusals = 0;     // in a row
    Nanoseconds retry_at{0};
  };
  struct Answer {
    std::string run_id;
    RedisReply reply;
  };
  struct Inbox;

  void add(const std::string& run_id);
  void fill_last(Shipped& shipped, const std::string& run_id, std::uint64_t bytes) const;
  void remember(Shipped& shipped, const std::string& line) const;
  void take(const Answer& answer);
  void take_push(const std::string& run_id, Shipped& shipped, const RedisValue& value);
  void take_end(const std::string& run_id, Shipped& shipped, const RedisValue& value);
  void retry(const std::string& run_id, Shipped& shipped, const std::string& why);
  static void make_ready(const std::string& run_id, Shipped& shipped);
  void work_off(Lane& lane);
  void advance(const std::string& run_id, Shipped& shipped);
  void push(const std::string& run_id, Shipped& shipped);
  void end(const std::string& run_id, Shipped& shipped, const Claim& claim, const RunExit& exit);
  void post(const std::string& run_id, Shipped& shipped, RedisCommand command, bool is_end);
  std::vector<std::string> texts_of(const Lines& lines) const;

  ActiveRuns& runs_;
  Link& link_;
  Keys keys_;
  const Clock& clock_;
  Log& log_;
  Options options_;
  std::shared_ptr<Inbox> inbox_;
  Lane running_;
  Lane over_;
  std::map<std::string, Shipped, std::less<>> shipped_;
  Nanoseconds sweep_at_{0};
};

}  // namespace kron::cluster
