#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron::http {

class Share;

// Names and values in the order they came or go.
using Fields = std::vector<std::pair<std::string, std::string>>;

// Who asks, as the listener knows him that he came through.
struct Principal {
  std::string name = {};      // limits for one user count by it; "uid 1000"
  unsigned permissions = 0;   // what they mean is the application's business; 0: none
  bool is_preferred = false;  // what is kept of the shared limits is for him, and no cap for one user
  // What he was let in by may end before his requests do: the id of a session, and when it ends; see Server::closer.
  std::string session = {};
  std::optional<Instant> until = {};

  bool operator==(const Principal&) const = default;
};

struct Request {
  std::string method = {};
  std::string target = {};                 // as sent
  std::vector<std::string> segments = {};  // the path, decoded: /api/v1/jobs/a%2Fb → api, v1, jobs, a/b
  Fields query = {};                       // decoded
  Fields headers = {};                     // names in lower case
  std::string body = {};
  Principal principal = {};
  std::shared_ptr<Share> body_share = {};  // what the body takes of the server's limit, as long as this lives

  // The first of that name; views into this Request. Header names are asked for in lower case.
  std::optional<std::string_view> header(std::string_view name) const;
  std::optional<std::string_view> parameter(std::string_view name) const;
};

// Content-Length, Transfer-Encoding and Connection are the server's business, not a handler's.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  Fields headers = {};
  std::string body = {};

  // The first of that name, in lower case; a view into this Response.
  std::optional<std::string_view> header(std::string_view name) const;
};

// "Not Found"; empty for a status nobody defined.
std::string_view reason_of(int status);

// An error as application/problem+json (RFC 9457): type, title, status, detail, and field and column when there are
// any. The status is that of the one table in base/result.cc; the type names the code.
Response problem(const Error& error);

// The same for what is wrong with the HTTP itself (405, 413 …), which no code stands for.
Response problem(int status, std::string_view detail);

// The way back: what a client makes of an answer that is no success, a problem document or not.
Error error_in(const Response& response);

}  // namespace kron::http
