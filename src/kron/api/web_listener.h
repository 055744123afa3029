#pragma once

#include <memory>
#include <utility>

#include "kron/api/access_store.h"
#include "kron/http/limits.h"
#include "kron/http/listener.h"

namespace kron::api {

// Who sends a request through the web socket, by the token or the session in it: not by who connected, which is a front
// without any right of its own.
//   400  what it shows can be read in two ways
//   401  it shows nothing, or nothing that lets anybody in: always the same answer. A token that stood in a path
//        (kTokenInPath) lets in when it is one for that alone: others do not belong where proxies write them down
//   403  it comes with a cookie, would change something, and has not what only the page can know
// A few paths are open to anybody: whether krond lives, and the way to a session.
inline constexpr std::string_view kTokenInPath = "kron-token-in-path";  // a header that a front adds
http::Listener::Identified identify_by_token(const http::Request& head, AccessStore& access, bool open_metrics);

// The web socket. Its clients share nothing with those of krond's own socket, and what one token may have at a time is
// limited.
class WebListener : public http::Listener {
 public:
  // `access` outlives it.
  WebListener(std::unique_ptr<http::Listener> socket, AccessStore& access, bool open_metrics);

  int descriptor() const override { return socket_->descriptor(); }
  http::Listener::Identified identify(int socket) const override { return socket_->identify(socket); }
  http::Listener::Identified identify(const http::Request& head) const override {
    return identify_by_token(head, access_, open_metrics_);
  }
  const http::Limits* limits() const override { return &limits_; }

 private:
  std::unique_ptr<http::Listener> socket_;
  AccessStore& access_;
  bool open_metrics_;
  http::Limits limits_;
};

// The session in a request that was let in by one; empty: it was not.
std::string_view session_shown(const http::Request& request, const AccessStore& access);

}  // namespace kron::api
