#include "run_end.h"

#include <algorithm>
#include <poll.h>

#include "answer_text.h"
#include "kron/base/duration.h"
#include "kron/env/clock.h"

namespace kron::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{20};
constexpr milliseconds kLongestPause{1000};
// How long krond keeps a question open; shorter than the time an answer may take.
constexpr Nanoseconds kRound = Seconds(20);
// A krond that was started again knows after this long what became of the runs before it.
constexpr Nanoseconds kUntilForgotten = Seconds(10);

class Waiting {
 public:
  Waiting(const http::Endpoint& place, const AwaitedRun& run, std::optional<Nanoseconds> limit)
      : client_(place), run_(run), limit_(limit), started_(clock_.monotonic()) {}

  Result<std::string> run() {
    // The first question is answered at once: it tells whether there is such a run.
    for (Nanoseconds wait{0};; wait = std::min(left(), kRound)) {
      const Nanoseconds asked = clock_.monotonic();
      auto body = ask(wait);
      if (body && has_ended(*body)) return body;
      if (!body) {
        if (const auto no = reason_to_give_up(body.error())) return fail(*no);
      }
      was_there_ = was_there_ || body;
      if (is_late()) return fail(Code::conflict, "run " + run_.id + " has not ended within " + duration_text(*limit_));
      // An end that the history does not know yet would be asked for in a circle.
      if (!body || (wait > Nanoseconds(0) && clock_.monotonic() - asked < wait)) pause();
    }
  }

 private:
  Result<std::string> ask(Nanoseconds wait) {
    Target target = Target("runs").segment(run_.id);
    if (wait > Nanoseconds(0)) target.parameter("wait", duration_text(wait));
    return client_.get(target);
  }

  static bool has_ended(const std::string& body) {
    const auto run = parsed_answer(body);
    return run && (text_in(*run, "state") == "ended" || text_in(*run, "outcome") != "executed");
  }

  std::optional<Error> reason_to_give_up(const Error& error) {
    const bool is_promised = !run_.promised_by.empty();
    if (error.code == Code::unreachable && (was_there_ || is_promised)) return std::nullopt;
    if (error.code != Code::not_found || !is_promised) return error;
    return is_forgotten() ? std::optional(forgotten()) : std::nullopt;
  }

  // A run that waits for others to end is known to the krond that promised it alone.
  bool is_forgotten() {
    const auto krond = krond_of(client_);
    if (!krond || *krond == run_.promised_by) {
      unknown_since_.reset();
      return false;
    }
    if (!unknown_since_) unknown_since_ = clock_.monotonic();
    return clock_.monotonic() - *unknown_since_ >= kUntilForgotten;
  }

  Error forgotten() const {
    return {Code::not_found,
            "krond was started again before run " + run_.id + " began, and knows nothing of it; trigger the job again"};
  }

  Nanoseconds left() const { return limit_ ? started_ + *limit_ - clock_.monotonic() : kRound; }
  bool is_late() const { return left() <= Nanoseconds(0); }

  void pause() {
    const auto time = std::clamp<Nanoseconds>(pause_, Nanoseconds(0), std::max(left(), Nanoseconds(0)));
    ::poll(nullptr, 0, static_cast<int>(std::chrono::ceil<milliseconds>(time).count()));
    pause_ = std::min(pause_ * 2, kLongestPause);
  }

  RealClock clock_;
  DaemonClient client_;
  AwaitedRun run_;
  std::optional<Nanoseconds> limit_;
  Nanoseconds started_;
  bool was_there_ = false;
  std::optional<Nanoseconds> unknown_since_;  // to a krond that did not promise it
  milliseconds pause_ = kFirstPause;
};

}  // namespace

Result<std::string> krond_of(DaemonClient& client) {
  const auto body = client.get(Target("status"));
  if (!body) return fail(body.error());
  const auto status = parsed_answer(*body);
  if (!status) return fail(status.error());
  return text_in(*status, "startedAt") + " " + std::to_string(number_in(*status, "pid"));
}

Result<std::string> run_at_its_end(const http::Endpoint& place, const AwaitedRun& run,
                                   std::optional<Nanoseconds> limit) {
  return Waiting(place, run, limit).run();
}

}  // namespace kron::cli
