#pragma once

#include <cstddef>

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
  std::size_t body_limit(const http::Request& head) const;
  bool admits(const http::Credentials& peer) const { return right_of(peer, parts_.access) != Right::none; }

  const std::vector<Route>& routes() const { return router_.routes(); }

 private:
  Parts parts_;
  Router router_;
};

}  // namespace kron::api
