#pragma once

#include <string>
#include <string_view>

namespace kron::cluster {

// The names of all that a cluster keeps in Redis (docs/formats.md). Every one begins with the namespace.
class Keys {
 public:
  explicit Keys(std::string name_space) : prefix_(std::move(name_space)) {}

  [[nodiscard]] const std::string& name_space() const { return prefix_; }

  // cronken's
  [[nodiscard]] std::string jobs() const { return of("jobs"); }
  [[nodiscard]] std::string paused() const { return of("jobs:paused"); }
  [[nodiscard]] std::string rundata() const { return of("rundata"); }
  [[nodiscard]] std::string active() const { return of("rundata:active"); }
  [[nodiscard]] std::string output(std::string_view run_id) const { return of("rundata:output:") += run_id; }
  [[nodiscard]] std::string results(std::string_view status) const { return of("results:") += status; }
  [[nodiscard]] std::string results(std::string_view job, std::string_view status) const {
    return ((of("results:") += job) += ':') += status;
  }
  [[nodiscard]] std::string lock(std::string_view lock_name) const;  // of any job: the SHA-1 of its name
  [[nodiscard]] std::string reaper_lock() const { return of("locks:__reaper__"); }
  [[nodiscard]] std::string validation_lock() const { return of("locks:__validation__"); }
  [[nodiscard]] std::string instances() const { return of("instances"); }
  [[nodiscard]] std::string events() const { return of("__events__"); }

  // ours
  [[nodiscard]] std::string state() const { return of("kron:state"); }
  [[nodiscard]] std::string claims() const { return of("kron:claims"); }
  [[nodiscard]] std::string fence() const { return of("kron:fence"); }
  [[nodiscard]] std::string outcomes() const { return of("kron:outcomes"); }
  [[nodiscard]] std::string hosts() const { return of("kron:hosts"); }
  [[nodiscard]] std::string cluster() const { return of("kron:cluster"); }
  [[nodiscard]] std::string wake() const { return of("kron:wake"); }

 private:
  [[nodiscard]] std::string of(std::string_view rest) const { return (prefix_ + ":") += rest; }

  std::string prefix_;
};

}  // namespace kron::cluster
