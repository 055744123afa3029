#include "kron/daemon/series_sink.h"

#include <variant>

#include "kron/history/entry.h"

namespace kron::daemon {
namespace {

char letter_of_end(const RunEnded& ended) {
  history::Entry entry = history::entry_of(ended.identity, ended.run);
  entry.ended_at = ended.at;
  entry.exit_code = ended.exit.code;
  entry.failed = ended.exit.failed;
  entry.detail = ended.exit.reason;
  return history::letter_of(entry);
}

}  // namespace

Observer series_sink(api::Series& series, const Clock& clock) {
  return [&series, &clock](const Event& event) {
    if (const auto* started = std::get_if<RunStarted>(&event)) {
      const bool is_scheduled = started->run.trigger == Trigger::schedule && started->run.chosen;
      series.started(now(clock), is_scheduled ? std::optional(clock.wall() - *started->run.chosen) : std::nullopt);
    } else if (const auto* run = std::get_if<RunEnded>(&event)) {
      series.ended(now(clock), letter_of_end(*run));
    } else if (const auto* ended = std::get_if<PeriodEnded>(&event)) {
      const history::Entry entry{.job = ended->identity, .outcome = ended->outcome, .ended_at = ended->at};
      if (ended->outcome != Outcome::executed) series.ended(now(clock), history::letter_of(entry));
    }
  };
}

}  // namespace kron::daemon
