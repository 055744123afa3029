#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kron/env/clock.h"
#include "kron/env/log.h"

namespace kron::api {

// Says in the log who was not let in, or not let do something: of each of the two a line a second at most, which says
// how many there were. From any thread.
class RefusalLog {
 public:
  RefusalLog(const Clock& clock, Log& log) : clock_(clock), log_(log) {}

  // `id` is that in a token, or empty; never what was shown.
  void not_let_in(std::string_view reason, std::string_view id);
  void not_allowed(std::string_view by, std::string_view request, std::string_view needs);

 private:
  struct Kind {
    std::optional<Nanoseconds> told = {};
    std::int64_t untold = 0;
  };
  // How many a line now stands for; nothing: it is too early for one.
  std::optional<std::int64_t> to_tell(Kind& kind);

  const Clock& clock_;
  Log& log_;
  std::mutex mutex_;
  Kind not_let_in_;
  Kind not_allowed_;
};

}  // namespace kron::api
