#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/core/job.h"
#include "kron/core/state.h"
#include "kron/history/entry.h"
#include "kron/state/record.h"

// What needs somebody: out of the record and the history, for the API, `kron status` and the page. Pure.
namespace kron::report {

// In the order in which they are shown.
enum class Matter : std::uint8_t {
  not_ready,       // krond starts nothing
  history_failed,  // the history cannot be asked, so that what follows may be missing
  file_refused,    // a job file has errors
  reload_failed,   // the last reload changed nothing
  token_expires,   // a token lets nobody in soon, or no longer
  not_notified,    // a destination of notifications does not take them
  no_slot,         // jobs wait long for a slot
  not_scheduled,   // a job's record cannot be used
  failing,         // its last runs failed
  missed,          // its last periods were missed
  skipping,        // its last periods were skipped because a run went on
  too_long,        // a run takes more than twice as long as usual
  may_have_none,   // constraints that may leave the next period without a time
  long_paused,     // paused for more than a week
};
std::string_view name_of(Matter matter);

struct AttentionFacts {
  struct OfJob {
    Job job = {};
    std::optional<Suspension> suspended = {};
    std::vector<ActiveExecution> active = {};
    std::vector<history::Entry> recent = {};  // the newest first; some 20
    std::optional<Seconds> usual = {};        // how long it takes; none: as `recent` tells
    std::optional<Instant> next = {};         // the next period's nominal time
  };
  struct Named {
    std::string name;  // of a file or a job
    std::string reason;
    std::size_t count = 1;
  };

  struct Token {
    std::string id;
    std::string name;
    Instant expires_at;
  };

  // A message that was tried in vain.
  struct Undelivered {
    std::string destination;
    std::string reason;  // of the last attempt
    Instant since;
    bool is_given_up = false;  // no attempt follows
  };

  // Slots of a pool, or of the host, that somebody waits for.
  struct SlotsShort {
    std::string pool;  // empty: of the host
    std::size_t slots = 0;
    std::size_t waiting = 0;
    Instant since;        // when the wait of who has waited longest began
    std::string longest;  // his name
  };

  Instant now = {};
  std::string not_ready = {};  // why; empty: it is ready
  std::string history_failed = {};
  std::string reload_failed = {};
  std::vector<Named> refused_files = {};
  std::vector<Token> tokens = {};  // that expire at all
  std::vector<Undelivered> undelivered = {};
  std::string not_delivered = {};  // why nothing delivers messages; empty: it is done, or not needed
  std::size_t not_queued = 0;      // messages that the queue does not take …
  std::string queue_refuses = {};  // … and why
  std::vector<SlotsShort> slots_short = {};
  std::vector<Named> not_scheduled = {};
  std::vector<OfJob> jobs = {};  // those that may need somebody
};

struct NeedsSomebody {
  Matter matter = Matter::failing;
  std::string name = {};  // of the job, or of the file; empty: krond itself
  std::string what = {};  // "failed 3 times in a row"
  std::optional<Instant> since = {};
  std::size_t count = 1;
  std::string reason = {};
  std::string cure = {};

  bool operator==(const NeedsSomebody&) const = default;
};

// Who waits longer than this for a slot needs somebody.
inline constexpr Seconds kLongSlotWait = std::chrono::minutes(5);

std::vector<NeedsSomebody> attention(const AttentionFacts& facts);

// How long a job's run usually takes, as history::usual_length has it, out of its newest entries.
std::optional<Seconds> usual_length(const std::vector<history::Entry>& recent);

// Whether a job needs to be looked at although its history says nothing bad.
bool may_need_somebody(const Job& job, const std::optional<Suspension>& suspended,
                       const std::vector<ActiveExecution>& active, Instant now);

// Whether chance may leave this period without a time, so that somebody should know before.
bool may_have_no_time(const Job& job, Instant nominal);

// {"now","jobs","jobsInNeed","items":[…],"more"}: at most 100 items. `jobs`: how many there are; `not_looked_at`: so
// many further ones need somebody too.
std::string attention_json(const std::vector<NeedsSomebody>& items, std::size_t jobs, Instant now,
                           std::size_t not_looked_at = 0);

}  // namespace kron::report
