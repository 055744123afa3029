#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/cluster/grants.h"
#include "kron/env/descriptor.h"
#include "kron/env/process_runner.h"

namespace kron::cluster {

// What this host must remember of a run that it was granted until Redis knows its end.
struct Claim {
  Grant grant;                      // without `sent`: that is in the deadline
  ProcessIdentity process = {};     // of its kron-exec; PID 0: it was never spawned, or at least never let go
  std::uint64_t lines_shipped = 0;  // lines of output that Redis has
  std::uint64_t bytes_shipped = 0;  // of what the command wrote, those that these lines were made of

  bool operator==(const Claim&) const = default;
};

inline constexpr std::size_t kClaimFileSize = 4096;
inline constexpr Nanoseconds kNoDeadline = Nanoseconds::max();

// Pure: the bytes of a claim file (docs/formats.md), and what is in them. Invalid: they are damaged.
std::string claim_bytes(Nanoseconds deadline, const Claim& claim);
struct ReadClaim {
  Nanoseconds deadline{0};
  Claim claim;
};
Result<ReadClaim> parse_claim(std::string_view bytes, std::string_view run_id);

// When the command of a locked run must be dead unless the lock is renewed: `sent` is when the claim or its last
// confirmed renewal was sent, by CLOCK_BOOTTIME. Without a lock: never.
Nanoseconds lease_deadline(Nanoseconds sent, Nanoseconds ttl);

// The file of one claim, open. kron-exec has the same file open as its lease and kills the command when the deadline in
// it has passed (runner/protocol.h). Survives this process, not the machine: nothing is synced. write() and
// set_deadline() may be called by two threads: they touch different bytes.
class ClaimFile {
 public:
  ClaimFile() = default;
  explicit ClaimFile(Descriptor file) : file_(std::move(file)) {}

  Status write(const Claim& claim);
  // False: it could not be written, and what it says holds.
  bool set_deadline(Nanoseconds deadline);
  [[nodiscard]] Nanoseconds deadline() const;

  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  Descriptor file_;
};

// <state-dir>/claims: a file for each run of this host whose end Redis has not confirmed. It *is* the list of active
// runs of an earlier daemon. Any thread, as long as none works on the same run as another.
class Claims {
 public:
  // Makes the directory, 0700, if it is missing; the state directory must exist.
  static Result<Claims> open(std::string_view state_directory);

  // 0600. Conflict: there is one of this run already; an earlier one of this name is somebody's lease.
  Result<ClaimFile> create(const Claim& claim, Nanoseconds deadline);

  struct Found {
    std::string run_id;
    ClaimFile file;
    Claim claim;
    std::string damage = {};  // why it cannot be read; then there is only the run id
  };
  // Those that are there, by run id. What has no name of a run is left alone.
  Result<std::vector<Found>> read_all() const;

  // What is not there is no error.
  void remove(std::string_view run_id) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Claims(Descriptor directory, std::string path) : directory_(std::move(directory)), path_(std::move(path)) {}

  Descriptor directory_;
  std::string path_;
};

}  // namespace kron::cluster
