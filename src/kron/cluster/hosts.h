#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/cluster/aside.h"
#include "kron/cluster/dialect.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"
#include "kron/env/clock.h"
#include "kron/env/file_system.h"
#include "kron/env/log.h"

namespace kron::cluster {

// An entry of `:kron:hosts`: a krond, under its instance name.
struct HostEntry {
  std::string owner;  // 128 random bits of its state directory
  std::string host;   // as in rundata and `:instances`
  std::string ip;
  std::string version;
  Dialect mode = Dialect::seed;
  double clock_offset = 0;  // seconds that Redis's clock is ahead of the host's
  bool is_draining = false;
  std::uint64_t runs = 0;  // active now
  double beat = 0;         // when it was written, by Redis's clock

  bool operator==(const HostEntry&) const = default;
};
// As JSON, around the number of `beat`, which the script writes.
struct HostEntryText {
  std::string head;
  std::string tail;
};
HostEntryText text_of(const HostEntry& entry);
Result<HostEntry> parse_host_entry(std::string_view text);

// The member of `:instances`, byte for byte as cronken writes it.
std::string instance_member(std::string_view host, std::string_view ip);
struct InstanceName {
  std::string host;
  std::string ip;
};
Result<InstanceName> parse_instance_member(std::string_view member);

// Reads `<state_dir>/cluster-owner`, or makes it: 32 hex digits, mode 0600, durable when this returns.
Result<std::string> cluster_owner(FileSystem& file_system, const std::string& state_dir);

// This host's place in the cluster. An instance name is bound to the owner: two krond of one host name get `host` and
// `host#2`. Lives on the loop; what waits for Redis is done aside.
class Hosts {
 public:
  struct Options {
    std::string host;
    std::string ip;
    std::string owner;
    std::string version;
    Dialect mode = Dialect::seed;
    Nanoseconds cadence = std::chrono::seconds(30);
    Seconds stale{45};  // after this long without a beat a name is free for others
  };
  // What changes, asked on the loop at each tick.
  struct Present {
    double clock_offset = 0;
    bool is_draining = false;
    std::uint64_t runs = 0;
  };
  struct World {
    Link& link;
    const Keys& keys;
    Log& log;
    Aside aside;
    std::function<Present()> present;
    // The instance name was given (or, after a long absence, changed): on the loop.
    std::function<void(const std::string& instance)> on_name;
  };
  Hosts(World world, Options options);
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;
  ~Hosts();

  // A beat when it is time: the first at once, then every cadence, when the host begins to drain, and after a failure
  // every second. The next time, by Clock::monotonic.
  Nanoseconds tick(Nanoseconds now);

  // A clean stop: frees the name, and beats no more. Blocks, at most `timeout`.
  void leave(Nanoseconds timeout);

  [[nodiscard]] const std::string& instance() const { return instance_; }  // empty: not joined yet
  // Instances that are no krond, at the last beat: in seed mode they break our runs, and are reported each time.
  [[nodiscard]] const std::vector<std::string>& foreign() const { return foreign_; }

  struct Beat {
    std::string instance;
    std::vector<std::string> foreign;  // host (ip) of each
  };
  // Joins, or beats under the name that it has. Blocks; not on the loop.
  static Result<Beat> beat(Link& link, const Keys& keys, const Options& options, const Present& present,
                           const std::string& instance);

 private:
  struct Alive {};
  void take(const Result<Beat>& beat, Nanoseconds begun);

  World world_;
  Options options_;
  std::string instance_;
  std::vector<std::string> foreign_;
  std::optional<Nanoseconds> next_;
  bool is_busy_ = false;
  bool has_left_ = false;
  bool was_draining_ = false;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace kron::cluster
