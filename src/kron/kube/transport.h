#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kron/base/instant.h"
#include "kron/kube/request.h"

namespace kron::kube {

struct Response {
  int code = 0;
  std::string body = {};
  std::optional<Seconds> retry_after = {};
  std::optional<Instant> date = {};  // the server's clock, when it says
};

// No answer; `failure` says whether the request can have been carried out, and `message`, for people, what happened.
struct Broken {
  Failure failure = Failure::unknown;
  std::string message = {};
};

using Outcome = std::variant<Response, Broken>;

// How long it may take and whether it waits for others.
enum class Lane : std::uint8_t {
  call,   // at most so many at a time, 5 s
  list,   // likewise, 30 s
  lease,  // never waits for another, 5 s
};

// The way to the API server: a seam. Called on the loop's thread, where the answers come too, never within send() or
// open().
class Transport {
 public:
  using Id = std::uint64_t;
  using OnEnd = std::function<void(Outcome)>;
  using OnBytes = std::function<void(std::string_view)>;

  virtual ~Transport() = default;

  // Ends in any case, and once.
  virtual Id send(Request request, Lane lane, OnEnd on_end) = 0;
  // An answer that goes on: each part of its body as it comes, while the code is 200; any other answer comes whole, at
  // the end. An end after parts is a Response without a body when the server ended it, else Broken.
  virtual Id open(Request request, OnBytes on_bytes, OnEnd on_end) = 0;
  // Nothing is told of it any more; whether it is carried out nobody knows. May be called within its own callbacks.
  virtual void cancel(Id id) = 0;
};

}  // namespace kron::kube
