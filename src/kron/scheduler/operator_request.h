#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron {

// Who asked for something, and what he said about it. Empty: not known, or nothing.
struct Attribution {
  std::string by = {};
  std::string note = {};

  bool operator==(const Attribution&) const = default;
};

// What became of a request to run a job now.
struct Triggered {
  std::string run_id;
  enum class How : std::uint8_t { started, waiting, already_known } how = How::started;
};
std::string_view name_of(Triggered::How how);

// What an operator asks of a job, kept until it is answered. Answers are given on the loop's thread, once each; they
// must not ask the scheduler for anything but views.
struct OperatorRequest {
  using Started = std::function<void(const Result<Triggered>&)>;
  using Done = std::function<void(const Status&)>;

  struct Start {
    std::string key;  // empty: a run of its own
    Started answer;
    std::string run_id = {};                   // since it was judged
    std::optional<Result<bool>> has_run = {};  // what the ledger says of the key's run; none: it was not asked yet
  };
  struct Pause {
    bool is_over = false;  // it ends
    std::optional<Instant> until = {};
    bool skip_missed = false;
    Done answer;
  };

  std::string identity;
  std::variant<Start, Pause> what;
  Attribution from = {};
  int rounds = 0;  // how often others had changed the record meanwhile
};

}  // namespace kron
