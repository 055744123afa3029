#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/env/clock.h"
#include "kron/env/mailbox.h"
#include "kron/kube/config.h"
#include "kron/kube/transport.h"
#include "screen_times.h"

namespace kron::cli {

// Which API server a verb is about, as its flags say.
struct KubeOptions {
  std::string kubeconfig;  // empty: $KUBECONFIG, else ~/.kube/config, else the account of the pod we are in
  std::string context;     // empty: the current one
  std::string ns;          // empty: that of the context
  bool json = false;
  TimeFlags times = {};
};

// Where that server is and who we are. Unreadable: nothing says so, or what says so cannot be used.
Result<kube::Connection> connection_of(const KubeOptions& options);

// What the server said instead of doing it, as our own error: refused for what the account may not do, unreachable for
// what may pass, not_found, conflict and invalid. `what` was asked for: "KronJob 'report' in namespace 'shop'".
Error error_of_api(const kube::Answer& answer, const std::string& what);

// A conversation of one verb with the API server, one request after the other.
class KubeSession {
 public:
  // Asks nothing yet.
  static Result<KubeSession> open(const KubeOptions& options);

  // The namespace of those that are named without one.
  [[nodiscard]] const std::string& ns() const { return ns_; }

  // The answer, whatever its code. Unreachable: there is none; the message says whether it can have been carried out.
  Result<kube::Answer> ask(kube::Request request, kube::Lane lane = kube::Lane::call);

  void pause(Nanoseconds length);

 private:
  KubeSession() = default;

  std::string ns_;
  std::string server_;
  std::unique_ptr<RealClock> clock_;
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<kube::Transport> transport_;  // last: its thread uses the above
};

}  // namespace kron::cli
