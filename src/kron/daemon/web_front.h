#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/clock.h"
#include "kron/env/descriptor.h"
#include "kron/env/log.h"

namespace kron::daemon {

// Where `kron` is, as seen from the program that looks for it: beside it, or in ../bin.
Result<std::string> find_kron(std::string_view program);

// A child of krond that serves, under another uid where it is to be and krond may change it, started again, later each
// time, when it ends. It ends with krond. On the loop. It is the `kron web --service` of `krond --web`, for containers
// that have no service manager, and the worker that delivers notifications.
class WebFront {
 public:
  static constexpr Nanoseconds kFirstPause = Seconds(1);
  static constexpr Nanoseconds kLongestPause = Seconds(60);
  static constexpr Nanoseconds kLasted = Seconds(60);  // then the next pause is the first again

  struct Options {
    std::vector<std::string> command;  // a path, and words
    std::optional<uid_t> user = {};    // none: krond's own
    std::optional<gid_t> group = {};
    bool is_deliverer = false;  // of notifications, and may gain rights by what it executes, such as sendmail
  };

  // `clock` and `log` outlive it.
  WebFront(Options options, const Clock& clock, Log& log) : options_(std::move(options)), clock_(clock), log_(log) {}
  WebFront(const WebFront&) = delete;
  WebFront& operator=(const WebFront&) = delete;
  ~WebFront() { stop(); }

  // Starts it if it is time to, and takes its end. Returns when to come again, by Clock::monotonic; sooner when
  // descriptor() is readable.
  Nanoseconds step();

  // Of its process: readable when that has ended; -1: there is none.
  int descriptor() const { return process_ ? process_.get() : -1; }
  pid_t pid() const { return pid_; }

  // Why it does not serve: it could not be started, or has ended soon and has not lasted since; empty: it does.
  std::string trouble() const;

  // Has it read its certificate again, if it runs.
  void reload() const;

  // TERM; it is not started again.
  void stop();

 private:
  bool has_ended();
  void start();

  Options options_;
  const Clock& clock_;
  Log& log_;
  Descriptor process_;
  pid_t pid_ = 0;
  Nanoseconds started_{0};
  Nanoseconds pause_ = kFirstPause;
  Nanoseconds next_{0};
  std::string trouble_;
  bool is_stopped_ = false;
};

// Whether this process may become another user: CAP_SETUID and CAP_SETGID, by the text of /proc/self/status.
bool may_change_user(std::string_view status);

}  // namespace kron::daemon
