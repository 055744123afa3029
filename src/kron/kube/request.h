#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "kron/json/document.h"

// One call of the API server and what came of it, as values: whoever makes requests, sends them or plays the server
// speaks in these.
namespace kron::kube {

enum class Verb : std::uint8_t { get, create, update, patch, remove };

struct Request {
  Verb verb = Verb::get;
  std::string path;        // "/apis/batch/v1/namespaces/shop/jobs/report-0123456789"
  std::string query = {};  // without the question mark
  std::string body = {};   // JSON; of a patch: a JSON patch

  bool operator==(const Request&) const = default;
};

struct Answer {
  int code = 0;
  Node body;  // the object, a list of them, or a Status
};

// No answer. `not_sent`: the server has not seen the request. `unknown`: it may have been carried out, or may still be.
enum class Failure : std::uint8_t { not_sent, unknown };

using Reply = std::variant<Answer, Failure>;

}  // namespace kron::kube
