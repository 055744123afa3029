#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kron/kube/fake/api_server.h"
#include "kron/operator/answers.h"
#include "kron/operator/cache.h"
#include "kron/operator/calls.h"
#include "kron/operator/fake/samples.h"
#include "kron/operator/fake/witness.h"

namespace kron::testing {

// Ways to break the operator, to see that its tests notice.
enum class Mutant : std::uint8_t {
  none,
  no_gate,                 // Jobs are created unsuspended
  mark_stays,              // the gate's mark is kept when it is opened
  open_without_uid,        // whatever Job has the name is opened
  remove_without_version,  // Jobs at the gate are removed by uid alone
  dropped_on_absence,      // what is recorded and not seen counts as answered
  one_slot,                // `starting` has room for one
  record_without_version,  // the status is written whatever has happened since
  no_floor,                // first sight is not creation
  no_own_answers,          // only events are believed
};

// What becomes of a request on its way.
enum class Fate : std::uint8_t {
  answered,
  answer_lost,  // done, and nobody hears of it
  not_sent,
  floats,  // it is done some time later, or never; nobody hears of it
};

// A cluster that is made up: the server, its clock, and what is on the way to it.
struct World {
  kube::ApiServer server;
  Witness witness;
  std::vector<kube::Request> floating;
  Mutant mutant = Mutant::none;
  std::vector<std::string> trace = {};

  kube::Reply send(const kube::Request& request, Fate fate);
  // A request that floats arrives.
  void land(std::size_t which);

 private:
  kube::Answer deliver(const kube::Request& request);
  [[nodiscard]] kube::Request mutated(kube::Request request) const;
};

// One operator that believes to be the leader. Nothing keeps another one from believing the same.
class Leader {
 public:
  Leader(World& world, std::string name, Seconds skew = Seconds(0))
      : world_(world), name_(std::move(name)), skew_(skew) {}

  // A fresh process: it knows nothing until it has listed both kinds.
  void crash();
  void list(std::string_view resource);
  [[nodiscard]] bool is_synced() const { return has_kron_jobs_ && has_jobs_; }

  // Takes the next event of a kind; `twice`: and the one before it once more. False: there is none.
  bool hear(std::string_view resource, bool twice = false);
  // The next event never comes; a list makes up for it some time.
  void lose_event(std::string_view resource);
  void hear_all();

  // Makes one call with this fate. False: it rests, or has failed and backs off.
  bool step(Fate fate);

  // What it would do next.
  [[nodiscard]] kronjobs::Reconciled next() const;
  [[nodiscard]] const kronjobs::Cache& cache() const { return cache_; }
  [[nodiscard]] const std::vector<kronjobs::Notice>& notices() const { return notices_; }

 private:
  std::size_t& heard(std::string_view resource) { return resource == "jobs" ? heard_jobs_ : heard_kron_jobs_; }
  // The next event of the kind, or null.
  const kube::ApiServer::Event* next_event(std::string_view resource);
  void take_event(const kube::ApiServer::Event& event);
  [[nodiscard]] Instant now() const { return world_.server.now + skew_; }
  void put_kron_job(const Node& object);
  kronjobs::Next take(const kronjobs::Step& step, const kube::Reply& reply);
  [[nodiscard]] Turn turn() const;

  World& world_;
  std::string name_;
  Seconds skew_;  // its clock is ahead of the server's by this
  kronjobs::Cache cache_;
  std::size_t heard_kron_jobs_ = 0;  // events
  std::size_t heard_jobs_ = 0;
  bool has_kron_jobs_ = false;
  bool has_jobs_ = false;
  std::optional<kronjobs::Step> then_;
  bool backs_off_ = false;  // when that is done
  std::optional<Instant> rests_until_;
  std::optional<Instant> busy_since_;
  std::vector<kronjobs::Notice> notices_;
};

// Everything fails for a while; now nothing does: a fresh leader comes, and is asked until it rests. False: it never
// does.
bool settle_down(World& world, int most_calls = 100);

// What a story broke, and how it went.
struct Verdict {
  std::vector<std::string> broken;
  std::vector<std::string> trace;
  std::size_t executed = 0;
};

// A random story from a seed.
struct Story {
  std::uint64_t seed = 0;
  Mutant mutant = Mutant::none;
  int length = 60;
  bool two_leaders = true;
  bool recreation = false;  // one leader without a crash then, and periods count across KronJobs
  bool clock_jumps = true;
};
Verdict play(const Story& story);

}  // namespace kron::testing
