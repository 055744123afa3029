#pragma once

#include <cstddef>
#include <variant>

#include "kron/api/parts.h"
#include "kron/api/router.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"

namespace kron::api {

// What requests mean to this daemon: finds the route, asks whether the client may, and lets the route answer.
class Api {
 public:
  explicit Api(Parts parts);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // For http::Server, on its thread.
  void answer(http::Request request, http::Reply reply);
  // The right is asked for before the body is read.
  std::variant<std::size_t, http::Response> body_limit(const http::Request& head) const;

  // What takes long ends soon, unanswered. From any thread, when nobody is let in any more.
  void stop();

  const Forecasts& forecasts() const { return *parts_.forecasts; }
  const std::vector<Route>& routes() const { return router_.routes(); }

 private:
  Parts parts_;
  Router router_;
};

}  // namespace kron::api
