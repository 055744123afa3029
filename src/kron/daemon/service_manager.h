#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"

namespace kron::daemon {

// What systemd, or whoever else started us, wants to be told (sd_notify(3)). Without NOTIFY_SOCKET all of this is
// nothing.
class ServiceManager {
 public:
  // By the environment: NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  static ServiceManager from_environment();

  // `socket`: a path, or @name for the abstract space; empty: nobody listens.
  ServiceManager(std::string socket, std::optional<Nanoseconds> watchdog);

  // The lines of one message: READY=1 …
  void tell(std::string_view lines) const;

  void ready(std::string_view status) const;
  void reloading(Nanoseconds monotonic) const;
  void stopping() const;
  void alive() const;

  // A sentence for `systemctl status`; said only when it is another than before.
  void status(const std::string& sentence);

  // How often alive() must be said at most: half of what the manager allows. None: nobody waits for it.
  [[nodiscard]] std::optional<Nanoseconds> alive_every() const { return alive_every_; }
  [[nodiscard]] bool listens() const { return !socket_.empty(); }

 private:
  std::string socket_;
  std::optional<Nanoseconds> alive_every_;
  std::string last_status_;
};

}  // namespace kron::daemon
