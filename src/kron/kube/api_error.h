#pragma once

#include <optional>
#include <string>

#include "kron/base/instant.h"
#include "kron/kube/request.h"

namespace kron::kube {

// What the server said instead of doing it: the body of such an answer is a Status.
struct ApiError {
  int code = 0;
  std::string reason;   // "AlreadyExists", "Conflict", "NotFound" …; empty when the body is no Status
  std::string message;  // for people
  std::optional<Seconds> retry_after = {};
  bool namespace_terminating = false;  // one of its causes: nothing is created there any more

  bool operator==(const ApiError&) const = default;
};

// Nothing for an answer of 200 to 299.
std::optional<ApiError> error_in(const Answer& answer);

// The same request would be refused again, however often it is sent.
bool is_final(const ApiError& error);

}  // namespace kron::kube
