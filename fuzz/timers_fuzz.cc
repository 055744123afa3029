#include "kron/jobs/calendar_event.h"
#include "kron/jobs/import_timers.h"
#include "reads_back.h"

// Whatever systemctl shows is read or refused; a calendar event that is understood is a schedule, and every job reads
// back.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static kron::ZoneDatabase zones;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schedule = kron::jobs::schedule_of_calendar(text);
  if (schedule && !kron::parse_schedule(schedule->cron)) __builtin_trap();
  for (const auto keep : {kron::jobs::KeepUnit::as_needed, kron::jobs::KeepUnit::never}) {
    kron::jobs::ModelContext context{.zones = zones};
    kron::jobs::Report report("fuzz", text);
    for (const kron::jobs::JobDefinition& definition :
         kron::jobs::import_timers(text, {.all = true, .keep = keep}, context, report)) {
      if (!kron::fuzz::reads_back(definition, zones)) __builtin_trap();
    }
    for (const kron::jobs::Problem& problem : report.problems()) {
      if (kron::jobs::text_of(problem).empty()) __builtin_trap();
    }
  }
  return 0;
}
