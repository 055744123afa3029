#include "run_end.h"

#include <algorithm>
#include <cstdint>
#include <poll.h>

#include "answer_text.h"
#include "kron/base/duration.h"
#include "kron/env/clock.h"

namespace kron::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{20};
constexpr milliseconds kLongestPause{1000};
// Asked again so often though nothing was heard.
constexpr Nanoseconds kRound = Seconds(30);

class Waiting {
 public:
  Waiting(const std::string& socket, const std::string& run_id, std::optional<Nanoseconds> limit, IfUnknown if_unknown)
      : client_(socket),
        follower_(socket),
        run_id_(run_id),
        limit_(limit),
        started_(clock_.monotonic()),
        if_unknown_(if_unknown) {}

  Result<std::string> run() {
    while (true) {
      auto body = client_.get(Target("runs").segment(run_id_));
      if (body && has_ended(*body)) return body;
      if (!body && !may_pass(body.error())) return body;
      was_there_ = was_there_ || body;
      if (is_late()) return fail(Code::conflict, "run " + run_id_ + " has not ended within " + duration_text(*limit_));
      // The output of a run ends when the run does; if it cannot be had, time has to do.
      if (!body || !follow()) pause();
    }
  }

 private:
  static bool has_ended(const std::string& body) {
    const auto run = parsed_answer(body);
    return run && text_in(*run, "state") == "ended";
  }

  bool may_pass(const Error& error) const {
    if (error.code == Code::unreachable) return was_there_ || if_unknown_ == IfUnknown::wait;
    return error.code == Code::not_found && if_unknown_ == IfUnknown::wait;
  }

  Nanoseconds left() const { return limit_ ? started_ + *limit_ - clock_.monotonic() : kRound; }
  bool is_late() const { return left() <= Nanoseconds(0); }

  void sleep(int descriptor, Nanoseconds time) const {
    pollfd polled{descriptor, POLLIN, 0};
    const auto rest = std::chrono::ceil<milliseconds>(std::clamp(time, Nanoseconds(0), kRound));
    ::poll(&polled, descriptor < 0 ? 0 : 1, static_cast<int>(rest.count()));
  }

  // True when it came to its end, or this round did.
  bool follow() {
    const Target output = Target("runs").segment(run_id_).segment("output").parameter("follow", "true");
    if (!follower_.begin("GET", output.text())) return false;
    const Nanoseconds end = clock_.monotonic() + std::min(left(), kRound);
    while (clock_.monotonic() < end) {
      if (const auto answer = follower_.poll()) {
        // An end that the history does not know yet would be asked for in a circle.
        pause();
        return answer->has_value() && (*answer)->status == 200;
      }
      sleep(follower_.descriptor(), end - clock_.monotonic());
    }
    return true;
  }

  void pause() {
    sleep(-1, std::min<Nanoseconds>(pause_, left()));
    pause_ = std::min(pause_ * 2, kLongestPause);
  }

  RealClock clock_;
  DaemonClient client_;
  http::Client follower_;
  std::string run_id_;
  std::optional<Nanoseconds> limit_;
  Nanoseconds started_;
  IfUnknown if_unknown_;
  bool was_there_ = false;
  milliseconds pause_ = kFirstPause;
};

}  // namespace

Result<std::string> run_at_its_end(const std::string& socket, const std::string& run_id,
                                   std::optional<Nanoseconds> limit, IfUnknown if_unknown) {
  return Waiting(socket, run_id, limit, if_unknown).run();
}

}  // namespace kron::cli
