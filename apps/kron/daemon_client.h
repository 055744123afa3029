#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kron/http/client.h"
#include "kron/json/document.h"
#include "krond_place.h"
#include "operate_verbs.h"

namespace kron::cli {

// A path below /api/v1 from what people typed: each segment and each value is encoded.
class Target {
 public:
  explicit Target(std::string_view path) : text_("/api/v1/" + std::string(path)) {}

  Target& segment(std::string_view name);
  // Left out when the value is empty.
  Target& parameter(std::string_view name, std::string_view value);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool has_parameters_ = false;
};

// krond's API as the verbs ask it. An answer that is no success is an Error: krond's own code and sentence, or code
// unreachable when nobody answers.
class DaemonClient {
 public:
  explicit DaemonClient(http::Endpoint krond);
  static Result<DaemonClient> open(const DaemonOptions& options);

  Result<std::string> get(const Target& target);
  Result<std::string> post(const Target& target, std::string body = {}, const http::Fields& headers = {});
  Result<std::string> remove(const Target& target);  // DELETE
  // What is worth no long wait, over a connection of its own. Unreachable: not answered within the limit.
  Result<std::string> get_within(const Target& target, Nanoseconds limit);

  // The status, with the job files that changed on disk. An older krond, which does not know of these, is asked
  // without.
  Result<std::string> status_with_changes();

  // The same for a request that may be repeated: a reply that is lost while krond restarts is asked for again.
  Result<std::string> post_until_answered(const Target& target, const http::Fields& headers,
                                          const std::string& body = {});

  // The body in pieces, until it ends or `on_bytes` says false. `on_head`, if any, gets the headers first.
  Status stream(const Target& target, const http::Fields& headers,
                const std::function<bool(std::string_view bytes)>& on_bytes,
                const std::function<void(const http::Response& head)>& on_head = {});

  const http::Endpoint& place() const { return krond_; }
  const std::optional<http::TlsPeer>& peer() const { return client_.peer(); }  // over TLS, when it has answered
  const std::string& path() const { return krond_.socket_path; }               // of its socket on this host
  // Code conflict when it is asked by its URL, and so may be on another host; `what` the verb does here.
  Status must_be_here(std::string_view what) const;

 private:
  Result<std::string> ask(std::string_view method, const Target& target, std::string body, const http::Fields& headers);

  http::Endpoint krond_;
  http::Client client_;
};

// What that krond means by an answer that is no success.
Error refusal_in(const http::Response& response, const http::Endpoint& krond);

// How a client of that krond is set up, but for the time it may take.
http::Client::Options client_options(const http::Endpoint& krond);

// What krond answered, as a document. Code internal when it is none.
Result<Node> parsed_answer(std::string_view body);

// Prints the answer, or what went wrong: JSON as it came when `json`, else as `print` shows it.
int answered(std::string_view verb, bool json, const Result<std::string>& body,
             const std::function<void(const Node& answer)>& print);

}  // namespace kron::cli
