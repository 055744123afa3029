#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "kron/jobs/definition.h"

namespace kron {

// How many periods a request to krond may look at: some two seconds of work. `kron simulate` has no such limit.
inline constexpr std::uint64_t kMostPeriodsAsked = 2'000'000;

// What a look into the future may cost. Without limits as it is.
struct LookLimit {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t periods = kNone;
  std::function<bool()> is_wanted = {};  // asked now and then; false: nobody waits for the answer any more
};

// What is left of a limit while one answer is computed.
class LookBudget {
 public:
  explicit LookBudget(const LookLimit& limit) : limit_(limit), left_(limit.periods) {}

  // What looking at all periods of these jobs in [from, until) will cost, taken off before any is looked at. Cheap.
  // False: too much.
  bool reserve(std::span<const jobs::JobDefinition> definitions, Instant from, Instant until);

  // Takes off what was not reserved.
  bool spend(std::uint64_t cost) {
    if (cost > left_) is_spent_ = true;
    left_ -= cost > left_ ? left_ : cost;
    return goes_on();
  }

  // Asks, once in a while, whether somebody still wants the answer. Call it for each period.
  bool goes_on() {
    if (++steps_ % kStepsBetweenQuestions == 0) ask();
    return !is_spent_ && !is_unwanted_;
  }

  // Why it does not go on: invalid, with the field `for`; or unreachable, when nobody waits.
  [[nodiscard]] Status status() const;

 private:
  static constexpr std::uint64_t kStepsBetweenQuestions = 1024;

  void ask() {
    if (limit_.is_wanted && !limit_.is_wanted()) is_unwanted_ = true;
  }

  const LookLimit& limit_;
  std::uint64_t left_;
  std::uint64_t steps_ = 0;
  bool is_spent_ = false;
  bool is_unwanted_ = false;
};

}  // namespace kron
