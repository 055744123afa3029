#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/forecast/explanation.h"
#include "kron/forecast/next_start.h"
#include "kron/history/around.h"
#include "kron/history/entry.h"
#include "kron/history/up_times.h"

// Why a job ran, or did not, at a time: out of its definition, its record, its history, and when krond was up. The same
// answer for the API, for `kron why` and for `kron kube why`. Pure.
namespace kron::report {

enum class Verdict : std::uint8_t {
  executed,       // it ran, and has ended
  running,        // it runs
  skipped,        // judged, and not started: see the reason …
  missed,         // … its deadline was over
  excluded,       // the constraints allow no second of its window
  no_time,        // they allow some, and no draw met one
  passed_over,    // late, and a later period was judged in its place
  paused,         // by an operator; nothing is judged
  suspended,      // by its definition; nothing is judged
  not_loaded,     // due before krond knew the job, or before its schedule was what it is
  no_period,      // the schedule has none then
  clock_gap,      // … because the wall clock jumped over it
  at_boot,        // @reboot: no clock says when
  due,            // its time has come, and nothing is recorded yet
  ahead,          // its time will come
  record_ahead,   // the record says that later periods are handled, which the clock has not come to
  forgotten,      // it was handled, and how is known no more
  not_scheduled,  // its record cannot be used, so it never runs
};
std::string_view name_of(Verdict verdict);

// What is known of a pause, over or not.
struct Pause {
  Instant since;
  std::optional<Instant> until = {};  // none: it lasts
  std::string by = {};                // who asked for it; empty: not known
  std::string note = {};              // what he said about it

  bool operator==(const Pause&) const = default;
};

struct WhyFacts {
  bool is_kron_job = false;  // of Kubernetes, which has other words, and keeps less
  Job job = {};
  JobState state = {};
  std::vector<ActiveExecution> active = {};
  std::vector<history::Entry> entries = {};  // of this job, in any order, as far as they touch the question
  std::vector<history::UpTime> up = {};      // of the krond that judges it; in a cluster, of the one that is asked …
  std::string host = {};                     // … which has this name there; empty: it is the only one
  std::vector<Pause> pauses = {};  // the earlier ones, as far as they are known; the state has the present one
  std::string not_started = {};    // why nothing is started at all at present; empty: it is
  std::string not_scheduled = {};  // why this job is not; empty: it is
  struct SlotWait {
    std::string pool;  // empty: of the host
    Instant since;
  };
  std::optional<SlotWait> slot_wait = {};  // what is due of it waits for a slot
  std::string pool = {};                   // that it belongs to; empty: none
  Seconds catch_up_spread{0};              // of krond, for a job whose policy does not say it
  struct SpreadStart {
    Instant period;
    Instant at;
  };
  std::optional<SpreadStart> spread_start = {};  // the time that was drawn for a period that was found late
  Seconds history_age{0};                        // how long the history remembers; 0: not known
  Instant now = {};
};

struct WhyQuestion {
  std::optional<Instant> at = {};      // a time; the period that it belongs to is meant, or the run that went on then
  std::optional<Instant> period = {};  // or the nominal time of a period; neither: the last one that was due
};

struct WhyAnswer {
  Verdict verdict = Verdict::no_period;
  // Three sentences for people, without a full stop: the verdict, what led to it, and what would have had to be
  // different. The last two may be empty. Times in them are RFC 3339 in UTC, and nothing else in them looks like one.
  std::string sentence = {};
  std::string reason = {};
  std::string instead = {};

  std::optional<Decision> period = {};         // that it is about; none: there is none
  std::optional<history::Entry> entry = {};    // what the history tells of it
  std::optional<history::DownTime> down = {};  // when krond was not up at its time …
  std::string down_host = {};                  // … on this host of a cluster, of which another may have been up
  std::optional<Pause> pause = {};
  std::optional<Decision> before = {};  // the periods next to a time that has none
  std::optional<Decision> after = {};
  std::vector<Explanation::Field> mismatches = {};  // of such a time
  std::optional<NextStart> next = {};
};

// The period that is meant; none: the schedule has none then.
std::optional<Instant> period_meant(const Job& job, const WhyQuestion& question, Instant now);

// What the history is to be asked for: the entries that touch the question.
history::Around entries_needed(const Job& job, const WhyQuestion& question, Instant now);

// The fields of the schedule that do not accept this time, each with what it accepts. None for @every and @reboot.
std::vector<Explanation::Field> mismatches_of(const Schedule& schedule, const TimeZone& zone, Instant at);

WhyAnswer why(const WhyFacts& facts, const WhyQuestion& question);

// One JSON object (docs/formats.md).
std::string json_of(const WhyAnswer& answer, const Job& job, Instant asked, Instant now);

}  // namespace kron::report
