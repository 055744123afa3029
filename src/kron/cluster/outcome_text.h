#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kron/base/instant.h"
#include "kron/base/run_usage.h"
#include "kron/core/open_periods.h"
#include "kron/core/state.h"
#include "kron/state/record.h"

namespace kron::cluster {

// One entry of the stream :kron:outcomes, field `o`: one JSON object with the names of the run history
// (docs/formats.md). The time of an entry is its id in the stream. After a repetition an entry may come twice.
//
//   {"job":J,"host":I,"state":"running","outcome":"executed","trigger":"schedule","periodId":P,"chosenTime":C,"runId":R}
//   {"job":J,"host":I,"state":"ended","outcome":"executed","trigger":"schedule","periodId":P,"chosenTime":C,"runId":R,
//    "exitCode":0,"detail":"…"}
//   {"job":J,"host":I,"state":"ended","outcome":"missed","reason":"deadline","trigger":"schedule","periodId":P,
//    "chosenTime":C}                      a period that was not run; or, with a run id, a request that was given up
//   {"job":J,"host":I,"state":"ended","outcome":"passed over","trigger":"schedule",
//    "passedOver":{"count":3,"first":P,"last":P}}
//
// P and C are RFC 3339; a manual run has neither. Members that say nothing are left out; an unknown exit code of a run
// that ended is null.
struct OutcomeText {
  std::string job = {};
  std::string host = {};  // the instance
  bool is_running = false;
  std::optional<Outcome> outcome = {};  // none: passed over
  Reason reason = Reason::none;
  std::string clause = {};
  std::string detail = {};
  Trigger trigger = Trigger::schedule;
  std::optional<Instant> period = {};
  std::optional<Instant> chosen = {};
  std::string run_id = {};
  std::optional<int> exit_code = {};           // 128 + n for a signal
  std::optional<std::uint32_t> attempts = {};  // when several
  std::optional<bool> failed = {};             // when the exit code alone would say otherwise
  std::optional<std::uint64_t> output_bytes = {};
  std::optional<RunUsage> used = {};
  std::optional<PassedOver> passed_over = {};
};
std::string print(const OutcomeText& outcome);

// The entry of a server that has lost writes: {"event":"lost_writes","host":I,"seen":7}: the greatest fencing token
// that the host had seen.
std::string lost_writes_text(std::string_view host, std::uint64_t seen);

}  // namespace kron::cluster
