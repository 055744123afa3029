#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kron/cluster/aside.h"
#include "kron/cluster/dialect.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"

namespace kron::cluster {

// Runs that nobody keeps alive any more become `frozen`, in the whole cluster: one host at a time looks for them, under
// `:locks:__reaper__`. Also drops instances that are gone, and claims whose runs are.
class Reaper {
 public:
  struct Options {
    Nanoseconds cadence = std::chrono::seconds(30);
    Seconds stale{45};  // since the last heartbeat
    Dialect dialect = Dialect::seed;
    std::uint32_t general_results = 10'000;
    std::uint32_t results_of_a_job = 1'000;
    std::uint32_t last_lines = 10;
    std::uint32_t outcomes = 100'000;
  };
  struct World {
    Link& link;
    const Keys& keys;
    Log& log;
    Aside aside;
  };
  Reaper(World world, Options options);
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;
  ~Reaper();  // a pass that is under way ends on its own

  // Begins a pass when it is time and none is under way. The next time, by Clock::monotonic. The first pass is one
  // cadence after the first call.
  Nanoseconds tick(Nanoseconds now);

  struct Reaped {
    bool had_lock = false;  // another host is at it otherwise
    std::size_t frozen = 0;
    std::size_t alive = 0;  // they beat again before they could be frozen

    bool operator==(const Reaped&) const = default;
  };
  // One pass. Blocks; not on the loop. A failure leaves what was not reaped to the next pass.
  static Result<Reaped> reap(Link& link, const Keys& keys, const Options& options, Log& log);

 private:
  World world_;
  Options options_;
  std::optional<Nanoseconds> next_;
  std::shared_ptr<std::atomic<bool>> is_busy_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace kron::cluster
