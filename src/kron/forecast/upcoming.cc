#include "kron/forecast/upcoming.h"

#include <algorithm>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/allowed_share.h"
#include "kron/core/state.h"

namespace kron {
namespace {

// As a heap's "less": the earliest comes out first.
bool is_later(const Decision& a, const Decision& b) {
  return a.due() != b.due() ? a.due() > b.due() : a.nominal > b.nominal;
}

Instant within_years(Instant t) { return std::clamp(t, kFirstInstant, kLastInstant); }

}  // namespace

Result<Upcoming> Upcoming::of(const Job& job, Instant from) {
  if (job.schedule.kind == Schedule::Kind::reboot) {
    return fail(Code::invalid, quoted(job.identity, 200) + " runs when the daemon starts after a boot (@reboot)" +
                                   ", at no time that could be told before");
  }
  const Seconds length = std::chrono::ceil<Seconds>(job.window.duration);
  const Instant first = within_years(from - length - Seconds(1));
  const Instant last = within_years(from + length);
  if (first < last && job.schedule.count_between(first, last, job.zone) > 2 * kMostOpenPeriods) {
    return fail(Code::invalid,
                quoted(job.identity, 200) + " has more than " + std::to_string(kMostOpenPeriods) +
                    " periods open at once in its window of " + duration_text(job.window.duration) +
                    "; make the window shorter or the schedule rarer",
                "window");
  }
  return Upcoming(job, from, job.schedule.next_after(first - Seconds(1), job.zone));
}

// A period that begins before the earliest known one is due may still come before it.
bool Upcoming::must_look_further() const {
  if (!nominal_ || ahead_.size() >= kMostOpenPeriods) return false;
  return ahead_.empty() || window_of(job_->window, *nominal_).start < ahead_.front().due();
}

std::optional<Decision> Upcoming::next() {
  while (must_look_further()) {
    const Decision decision = decide(*job_, *nominal_);
    nominal_ = job_->schedule.next_after(*nominal_, job_->zone);
    if (decision.due() < from_) continue;
    ahead_.push_back(decision);
    std::ranges::push_heap(ahead_, is_later);
  }
  if (ahead_.empty()) return std::nullopt;
  std::ranges::pop_heap(ahead_, is_later);
  const Decision earliest = ahead_.back();
  ahead_.pop_back();
  return earliest;
}

std::optional<Decision> Upcoming::next_not_excluded() {
  for (int i = 0; i < kMostExcluded; ++i) {
    const std::optional<Decision> period = next();
    if (!period || period->chosen || !excluded_by(*job_, period->nominal)) return period;
  }
  return std::nullopt;
}

void Agenda::add(std::size_t job, Upcoming upcoming) {
  std::optional<Decision> head = upcoming.next_not_excluded();
  if (!head) return;
  sources_.push_back({job, std::move(upcoming), *head});
  put_back(sources_.size() - 1);
}

void Agenda::put_back(std::size_t source) {
  heap_.push_back(source);
  std::ranges::push_heap(heap_, is_later, [&](std::size_t i) -> const Decision& { return sources_[i].head; });
}

std::optional<Agenda::Entry> Agenda::next() {
  if (heap_.empty()) return std::nullopt;
  std::ranges::pop_heap(heap_, is_later, [&](std::size_t i) -> const Decision& { return sources_[i].head; });
  const std::size_t index = heap_.back();
  heap_.pop_back();
  Source& source = sources_[index];
  const Entry entry{source.job, source.head};
  if (const std::optional<Decision> head = source.upcoming.next_not_excluded()) {
    source.head = *head;
    put_back(index);
  }
  return entry;
}

}  // namespace kron
