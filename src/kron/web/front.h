#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "kron/env/clock.h"
#include "kron/http/forwarder.h"
#include "kron/http/listener.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"
#include "kron/web/routes.h"
#include "kron/web/sessions.h"

namespace kron::web {

// What stands between browsers and krond: the page, its session, and a fixed list of requests that go on to krond. No
// cookie: browsers send those to every port of a host, and any user of this machine may listen on one. On the thread of
// the server that asks it.
class Front {
 public:
  struct Options {
    Role role = Role::operate;
    std::string host = {};     // of this machine, for the page's title
    std::string version = {};  // of the page
    // A line for whoever runs it; never holds what was sent.
    std::function<void(const std::string& line)> tell = [](const std::string&) {};
  };

  // All of them outlive it.
  Front(Options options, Sessions& sessions, http::Forwarder& forwarder, const Clock& clock);

  // By Host, Origin and session: before a byte of a body is read.
  http::Listener::Identified identify(const http::Request& head);
  std::variant<std::size_t, http::Response> body_limit(const http::Request& head) const;
  void answer(http::Request request, http::Reply reply);

  // Of every answer: a policy under which the page runs no script but its own, and is framed by nobody.
  static http::Fields headers();

 private:
  void answer_session(const http::Request& request, http::Reply reply);
  http::Response log_in(const http::Request& request);
  http::Response session_json(const std::string& token) const;

  Options options_;
  Sessions& sessions_;
  http::Forwarder& forwarder_;
  const Clock& clock_;
  LoginLimit limit_;
  std::optional<Nanoseconds> told_;  // when the last line was
};

}  // namespace kron::web
