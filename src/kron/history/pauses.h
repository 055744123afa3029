#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron::history {

// A pause of a job by an operator, over or not.
struct Pause {
  std::string job;
  Instant since;
  std::optional<Instant> until = {};  // none: until somebody resumes it
  std::string by = {};                // who asked for it; empty: not known
  std::string note = {};              // what he said about it

  bool operator==(const Pause&) const = default;
};

// The last pauses of all jobs, the oldest first: a job's record tells only the present one. A value.
class Pauses {
 public:
  static constexpr std::size_t kMost = 2000;

  Pauses() = default;
  explicit Pauses(std::vector<Pause> all);

  // A job is paused; or one that is paused already, since then, in other terms from now on.
  void begin(Pause pause);
  // It is resumed. Nothing when it is not known to be paused.
  void end(std::string_view job, Instant at);

  [[nodiscard]] std::vector<Pause> of(std::string_view job) const;
  [[nodiscard]] const std::vector<Pause>& all() const { return all_; }

 private:
  std::vector<Pause> all_;
};

// As kept in history/pauses.json: {"version":1,"pauses":[{"job":…,"since":…,"until":…,"by":…,"note":…}]}.
std::string pauses_text(const std::vector<Pause>& all);
Result<std::vector<Pause>> parse_pauses(std::string_view text);

}  // namespace kron::history
