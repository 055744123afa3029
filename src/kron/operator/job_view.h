#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/sha256.h"
#include "kron/json/document.h"
#include "kron/kube/object.h"

namespace kron::kronjobs {

// A batch/v1 Job as the operator knows it.
struct JobView {
  enum class End : std::uint8_t { none, complete, failed };

  kube::ObjectMeta meta;
  std::string owner_uid = {};          // of the KronJob that controls it
  std::string identity = {};           // kron.io/identity; empty: not one of ours
  std::optional<Instant> period = {};  // none: a run by hand, or not one of ours
  std::optional<Instant> chosen = {};
  std::optional<Sha256> seed_hash = {};  // as a number: of tens of thousands its text would be megabytes
  std::optional<std::string> gate = {};  // kron.io/gate: the generation that it was made of
  bool is_watched = true;                // it has the label by which Jobs are watched: what happens to it is heard of
  bool suspended = false;
  End end = End::none;
  std::optional<Instant> ended_at = {};
  Seconds grace{30};  // terminationGracePeriodSeconds of its pods

  bool operator==(const JobView&) const = default;

  // Created, and not opened yet: no pod of it has started.
  [[nodiscard]] bool is_at_gate() const { return gate && suspended; }
  [[nodiscard]] bool is_finished() const { return end != End::none; }
};

// Refused with code invalid: not an object that a server has stored, or one whose period-id is no time.
Result<JobView> view_job(const Node& object);

}  // namespace kron::kronjobs
