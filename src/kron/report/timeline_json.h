#pragma once

#include <span>
#include <string>

#include "kron/forecast/timeline.h"
#include "kron/history/past.h"

namespace kron::report {

// `ok` `fail` `skip` `miss` `none` `over` `run` `unknown`: what became of a run or a period, by its letter in a row of
// outcomes; empty when the letter is none.
std::string_view mark_of(char letter);

// A timeline whose jobs have names instead of places.
struct NamedTimeline {
  Timeline timeline;
  std::vector<std::vector<std::string>> jobs;  // of each lane
};

// What to ask the history for it. `now`: nothing has started behind it.
history::PastQuestion past_question(const NamedTimeline& ahead, Instant now);

// The document that docs/formats.md describes under "Timeline". Without a past it says why there is none.
std::string timeline_json(const NamedTimeline& ahead, const Result<history::Past>& past, Instant now);

}  // namespace kron::report
