#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kron/core/allowed_share.h"
#include "kron/core/evaluate.h"
#include "kron/jobs/definition.h"
#include "kron/jobs/dst_effects.h"

namespace kron {

// What policy would do about one period at a time, when nothing of the job is known but that all earlier periods are
// handled.
struct Prospect {
  Instant now;
  Evaluation idle;                       // when no run is active
  Evaluation busy;                       // when one is
  std::optional<Instant> superseded_by;  // a later period is due by then too, and only the latest is judged
};

// The whole story of one period.
struct Explanation {
  struct Attempt {
    Draw draw;
    std::string refused_by;  // the clause; empty when allowed
  };
  // One field of the cron expression, and what it was matched with.
  struct Field {
    std::string name;
    int value;
    std::string accepts;
  };

  Job job;
  bool has_schedule = true;  // a request for a decision alone has none
  Decision decision;
  std::vector<Attempt> attempts;
  AllowedShare allowed;
  std::vector<Field> fields;                     // empty for @every
  std::optional<jobs::DstEffect> gap;            // the wall clock jumped over the time, and the period was moved
  std::optional<TimeZone::Resolution> repeated;  // the wall clock shows the nominal time twice
  std::optional<Prospect> prospect;
  // The rest is for who explains a whole definition to fill in.
  std::optional<jobs::SlotPool> pool = {};  // whose slots its runs need
  struct Aside {
    std::uint32_t retries = 0;
    std::uint32_t backoff = 0;  // seconds before the first of these
    std::optional<AlarmTerms> notify = {};
    bool pings = false;  // a check hears of its runs; its URL is a secret
  };
  Aside aside = {};
  struct Krond {
    Seconds catch_up_spread{0};   // of jobs whose policy does not say it
    std::size_t max_running = 0;  // 0: any number
  };
  std::optional<Krond> krond = {};  // that runs it; none: no krond was asked
};

// The period that `at` belongs to: the one that runs then; else the last whose window holds it; else the last nominal
// time before it; else the first after it.
Result<Instant> period_at(const Job& job, Instant at);
// `nominal` itself if the schedule has it; the error names its neighbours.
Result<Instant> known_period(const Job& job, Instant nominal);

// What each field of the schedule's expression accepts, and the value that the time has there; none for @every. The
// time need not match.
std::vector<Explanation::Field> schedule_fields(const Schedule& schedule, const CivilTime& time);

Explanation explain(const Job& job, Instant nominal, std::optional<Instant> now);
// Of a whole definition.
Explanation explain(const jobs::JobDefinition& definition, Instant nominal, std::optional<Instant> now);
// For a request that brings its nominal time instead of a schedule.
Explanation explain_decision(const Job& job, Instant nominal);

// Over how long its late start is spread: as its policy says, or else krond; 0: it is not.
Seconds spread_in_force(const Explanation& explanation);

// The story in words, several lines.
std::string text_of(const Explanation& explanation);
// One JSON object (docs/formats.md): the names of `kron decide`, then what led there.
std::string json_of(const Explanation& explanation);
// The same, with what a picture of the window needs: `buckets`, the chance of each of 60 equal parts and how much of it
// the constraints allow; `allowedSpans`, at most 1,000; and `text`, the story in words.
std::string json_with_shape(const Explanation& explanation);

}  // namespace kron
