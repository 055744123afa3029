#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/core/evaluate.h"
#include "kron/operator/reconcile.h"

namespace kron::kronjobs {

// One call of reconcile: each row either has a step, or leaves the matter to the next one. Internal to reconcile; the
// order of the rows is in reconcile.cc. Refers to what is seen.
class Reconciler {
 public:
  Reconciler(const Seen& seen, Turn turn);

  Reconciled run();

 private:
  using MaybeStep = std::optional<Step>;

  // reconcile.cc: the gate, and what is read of the KronJob
  MaybeStep remove_ungated_of_deleted();
  MaybeStep tell_trouble();
  MaybeStep open_recorded();
  MaybeStep open_one(const Starting& entry);
  MaybeStep adopt_jobs();
  MaybeStep rest_while_invalid();
  MaybeStep observe_edit();

  // reconcile_due.cc: what is due
  MaybeStep go_on_waiting();
  MaybeStep judge_due();
  MaybeStep start(const Decision& period);
  MaybeStep stop_active(std::optional<Instant> give_up);
  MaybeStep record_executed(const Decision& period, const JobView& job);
  Step record(const Decision& period, Outcome outcome, Reason reason, std::string_view job_name = {});
  Step start_failed(const Decision& period, const std::string& why);
  MaybeStep run_by_hand();
  Step record_manual(std::string_view outcome, std::string_view reason, const JobView* job = nullptr);

  // reconcile_status.cc: what the status should say
  MaybeStep catch_up_status();
  [[nodiscard]] KronJobStatus desired_status() const;
  Step write_status() { return WriteStatus{desired_status()}; }
  void show_jobs(KronJobStatus& status) const;
  void show_conditions(KronJobStatus& status) const;
  void note(const PeriodNote& judged);

  // reconcile_tidy.cc: what is left over
  MaybeStep remove_leftovers();
  MaybeStep remove_history();
  [[nodiscard]] bool is_leftover(const JobView& job) const;
  [[nodiscard]] bool is_of_later_edit(const JobView& job) const;

  [[nodiscard]] const JobView* find_uid(std::string_view uid) const;
  [[nodiscard]] const JobView* find_period(Instant period) const;
  [[nodiscard]] const JobView* find_name(std::string_view name) const;
  [[nodiscard]] bool is_own(const JobView& job) const { return job.identity == kron_job_.identity; }
  // At its gate, and made of this KronJob as it is now.
  [[nodiscard]] bool is_startable(const JobView& job) const;
  [[nodiscard]] bool is_starting(const JobView& job) const;
  [[nodiscard]] bool is_answered(const Starting& entry) const;
  [[nodiscard]] bool is_active(const JobView& job) const;
  [[nodiscard]] bool has_active() const;
  [[nodiscard]] bool is_starting_full() const;
  [[nodiscard]] Instant opening_limit(const Starting& entry) const;
  [[nodiscard]] GateKind gate_kind() const;
  [[nodiscard]] bool is_observed() const;
  void wake_at(std::optional<Instant> t);
  void warn(std::string_view reason, std::string message) {
    notices_.push_back({true, std::string(reason), std::move(message)});
  }

  const Seen& seen_;
  const KronJobView& kron_job_;
  Turn turn_;
  KronJobStatus status_;  // as it will be written
  JobState state_;        // its `handled`, with first sight
  std::optional<Instant> wakeup_;
  std::vector<Notice> notices_;
  std::string error_;           // SchedulingError is true, because of this …
  bool error_is_over_ = false;  // … or over, because something was started
};

}  // namespace kron::kronjobs
