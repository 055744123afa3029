#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/instant.h"
#include "kron/jobs/definition.h"

namespace kron {

// How many runs may be active at once: of the host, and of each pool. A run has a slot from when its process is made
// until its end is durable; who finds none waits here, in the order of chosen times and then of identities. Nothing of
// it is written: after a restart the runs that are adopted have their slots, and what is due is judged anew.
class Slots {
 public:
  using Job = std::uint32_t;

  // Where somebody stands in line.
  struct Place {
    Instant chosen;
    std::string identity;

    auto operator<=>(const Place&) const = default;
  };

  // The jobs of one pool, or those that have none. Stays where it is as long as a job of it, or a run, is there.
  class Group {
   public:
    [[nodiscard]] const std::string& pool() const { return pool_; }

   private:
    friend class Slots;
    struct Waiter {
      Job job;
      Instant since;
    };

    std::string pool_;       // empty: none
    std::size_t limit_ = 0;  // 0: none of its own
    std::size_t used_ = 0;
    std::size_t jobs_ = 0;  // that were admitted
    std::map<Place, Waiter> waiters_;
  };

  // `most_running`: of the host; 0: no limit.
  explicit Slots(std::size_t most_running) : most_running_(most_running) {}

  // A job is there, and its pool is as large as it says; and is there no longer. Costs nothing for a job without a
  // pool.
  void admit(const jobs::RunOptions& options);
  void dismiss(const jobs::RunOptions& options);

  // Whose slots the runs of a job that was admitted take; null: they need none. A task is no process of this host.
  [[nodiscard]] Group* group_of(const jobs::JobDefinition& definition);

  void take(Group& group);
  void give(Group& group);

  // Whether all have at most as many slots as there are. A limit that was lowered ends no run.
  [[nodiscard]] bool is_within_limits(const Group& group) const;

  // Whether who stands at `place` may take a slot now: there is one, and nobody who could take it stands before.
  [[nodiscard]] bool may_start(const Group& group, const Place& place) const;

  void wait(Group& group, const Place& place, Job job, Instant since);
  void leave(Group& group, const Place& place);  // who is not there leaves nothing
  [[nodiscard]] bool has_waiters() const { return waiting_ != 0; }

  // The first who may start, out of the line; nothing when nobody may.
  struct Ready {
    Job job;
    Group* group;
    Place place;
    Instant since;
  };
  [[nodiscard]] std::optional<Ready> pop_ready();
  [[nodiscard]] bool has_ready() const { return first_ready(nullptr) != nullptr; }

  // What a group lacks: a slot of its pool, or, when that has some, of the host (empty).
  [[nodiscard]] std::string_view lacks(const Group& group) const;

  // The host's first, if it has a limit, with an empty name; then the pools by name.
  struct Use {
    std::string pool;
    std::size_t slots = 0;
    std::size_t used = 0;
    std::size_t waiting = 0;  // who lack this one
    std::optional<Instant> longest_since = {};
    Job longest = 0;  // who has waited since then

    bool operator==(const Use&) const = default;
  };
  [[nodiscard]] std::vector<Use> uses() const;

 private:
  [[nodiscard]] bool has_room(const Group& group) const;
  [[nodiscard]] const Group* first_ready(const Group* only) const;

  std::size_t most_running_;
  std::size_t running_ = 0;
  std::size_t waiting_ = 0;
  std::map<std::string, Group, std::less<>> groups_;
};

}  // namespace kron
