#include "kron/core/decision.h"

#include <algorithm>
#include <cmath>

#include "kron/base/rfc3339.h"
#include "kron/core/decision_count.h"

namespace kron {
namespace {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t state) : state_(state) {}

  // Uniform in [0, 1), all 53 bits of it.
  double draw() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

  std::uint64_t state_;
};

// The minute is asked first: it is a remainder away, the date costs more.
bool allows(const Job& job, Instant candidate) {
  if (job.constraints.empty()) return true;
  const Seconds local(job.zone.to_local(candidate));
  const auto day = std::chrono::floor<std::chrono::days>(local);
  return job.constraints.allow_minute(static_cast<int>((local - day).count() / 60)) &&
         job.constraints.allow_date(date_of(day.count()));
}

Instant candidate_at(double place, const Window& window) {
  const std::int64_t width = (window.end - window.start).count();
  const auto offset = static_cast<std::int64_t>(std::floor(place * static_cast<double>(width + 1)));
  return window.start + Seconds(std::min(width, offset));
}

thread_local std::uint64_t decisions_of_thread = 0;

template <class See>
Decision decided(const Job& job, Instant nominal, See see) {
  ++decisions_of_thread;
  Decision decision;
  decision.nominal = nominal;
  decision.period_key = period_key_of(job.seed_strategy, job.zone, nominal);
  decision.window = window_of(job.window, nominal);
  decision.seed_hash = sha256({job.identity, "\n", decision.period_key.view(), "\n", job.salt});
  if (decision.window.start == decision.window.end) {
    if (allows(job, decision.window.start)) decision.chosen = decision.window.start;
    return decision;
  }
  SplitMix64 generator(leading_u64(decision.seed_hash));
  while (!decision.chosen && decision.attempts < kSamplingBudget) {
    ++decision.attempts;
    const double u = generator.draw();
    const Instant candidate = candidate_at(job.distribution.place(u, job.window), decision.window);
    const bool allowed = allows(job, candidate);
    see(Draw{u, candidate, allowed});
    if (allowed) decision.chosen = candidate;
  }
  return decision;
}

// Writes `value` right-aligned with leading zeros; out-of-range years show their nearest spelling, as rfc3339_text
// does.
void put_digits(char* at, int width, int value) {
  for (int i = width - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

PeriodKey week_key(std::int64_t day) {
  const IsoWeek week = iso_week_of(day);
  std::array<char, 8> text{'0', '0', '0', '0', '-', 'W', '0', '0'};
  put_digits(&text[0], 4, std::clamp(week.year, 0, 9999));
  put_digits(&text[6], 2, week.week);
  return PeriodKey({text.data(), text.size()});
}

}  // namespace

PeriodKey::PeriodKey(std::string_view text) : size_(static_cast<std::uint8_t>(std::min(text.size(), text_.size()))) {
  std::copy_n(text.data(), size_, text_.data());
}

std::uint64_t decisions_made() { return decisions_of_thread; }

Decision decide(const Job& job, Instant nominal) {
  return decided(job, nominal, [](const Draw&) {});
}

Decision decide_showing(const Job& job, Instant nominal, const std::function<void(const Draw&)>& see) {
  return decided(job, nominal, [&](const Draw& draw) { see(draw); });
}

std::string period_id(Instant nominal) { return rfc3339(nominal); }

PeriodKey period_key_of(SeedStrategy strategy, const TimeZone& zone, Instant nominal) {
  const Instant on_wall_clock = strategy == SeedStrategy::stable ? nominal : instant_of(zone.to_local(nominal));
  if (strategy == SeedStrategy::weekly) {
    return week_key(std::chrono::floor<std::chrono::days>(on_wall_clock).time_since_epoch().count());
  }
  constexpr std::size_t kDateSize = 10;
  const Rfc3339Text text = rfc3339_text(on_wall_clock);
  return PeriodKey({text.data(), strategy == SeedStrategy::daily ? kDateSize : text.size()});
}

}  // namespace kron
