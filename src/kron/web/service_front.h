#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/http/forwarder.h"
#include "kron/http/listener.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"
#include "kron/web/event_fan.h"
#include "kron/web/login_limits.h"
#include "kron/web/service_ways.h"
#include "kron/web/site.h"

namespace kron::web {

// A front for many, without any right of its own: each request goes on to krond's web socket with the token or the
// session it shows, and krond judges that. Where browsers speak https the session is a cookie; else the page keeps it
// and shows it itself, because browsers send cookies to every port of a host. On the thread of the server that asks it,
// but for answers, which come on the forwarder's.
class ServiceFront {
 public:
  struct Options {
    Site site = {};
    std::string host = {};     // of this machine, for the page's title
    std::string version = {};  // of the page
    // When the certificate that is shown now runs out; none: there is no TLS. Asked from the server's thread.
    std::function<Instant()> certificate_expires = {};
  };

  // All of them outlive it.
  ServiceFront(Options options, http::Forwarder& forwarder, const Clock& clock, Log& log);

  // By Host and Origin. Who shows what was good a moment ago is preferred to strangers: that is all it means here.
  http::Listener::Identified identify(const http::Request& head);
  std::variant<std::size_t, http::Response> body_limit(const http::Request& head) const;
  void answer(http::Request request, http::Reply reply);

  // When anybody last asked for anything: Clock::monotonic.
  Nanoseconds last_asked() const;

 private:
  struct Asker {
    std::string address;
    std::string credential;  // its hash; empty: none was shown
  };
  void forward(ServiceWay way, http::Request request, http::Reply reply);
  void follow_events(http::Request request, http::Reply reply);
  void answer_session(http::Request request, http::Reply reply);
  void log_in(http::Request request, http::Reply reply);
  http::Response after_login(http::Response answer, const Asker& asker, const std::string& id, bool with_cookie);
  http::Response session_for_page(const http::Response& answer, bool with_cookie) const;
  http::Response slow_down(Seconds wait, const std::string& address, const std::string& id);
  http::Response refuse_tokens(const http::Request& request);
  void note_failed_login(const std::string& address, const std::string& id);
  void note_answer(const std::string& credential, int status);
  bool uses_cookies(const http::Request& request) const;

  Options options_;
  http::Forwarder& forwarder_;
  const Clock& clock_;
  Log& log_;
  LoginLimits limits_;
  std::shared_ptr<EventFan> events_;
  mutable std::mutex mutex_;                 // guards what follows
  std::map<std::string, Nanoseconds> good_;  // hashes of what krond let in, and when it last did
  Nanoseconds asked_{0};
  std::optional<Nanoseconds> told_;
  std::int64_t untold_ = 0;
};

}  // namespace kron::web
