#include "daemon_client.h"

#include <cstdio>
#include <ctime>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/base/text.h"
#include "kron/env/places.h"
#include "lines.h"

namespace kron::cli {
namespace {

// More than any page of the API; what krond itself sends is to be trusted, and may be large.
constexpr JsonLimits kAnswerLimits{std::size_t{256} << 20, 128};

constexpr int kMostTries = 20;
constexpr timespec kBetweenTries{0, 250'000'000};  // between two tries: krond is back within a second or two

bool is_socket(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

// A user who has no krond of his own often means that of the machine.
Error with_other_krond(Error error, const http::Endpoint& asked) {
  if (error.code != Code::unreachable || asked.is_remote()) return error;
  const std::string other = system_socket_instead_of(asked.socket_path, ::geteuid(), is_socket);
  if (!other.empty())
    error.message += "; the krond of this machine listens on " + other + ": ask it with --socket " + other;
  return error;
}

}  // namespace

Target& Target::segment(std::string_view name) {
  text_ += "/" + http::percent_encoded(name);
  return *this;
}

Target& Target::parameter(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  text_ += has_parameters_ ? '&' : '?';
  has_parameters_ = true;
  (text_ += name) += '=';
  text_ += http::percent_encoded(value);
  return *this;
}

Error refusal_in(const http::Response& response, const http::Endpoint& krond) {
  Error error = http::error_in(response);
  if (response.status == 401 && krond.is_remote()) {
    error.message += krond.token.empty() ? "; name the file of a token with --token-file"
                                         : "; the token is unknown there, or has run out: see `kron token list` there";
  }
  return error;
}

http::Client::Options client_options(const http::Endpoint& krond) {
  http::Client::Options options;
  if (krond.is_remote()) options.cure = "is `kron web` running there? see `kron doctor --url " + krond.text() + "`";
  return options;
}

DaemonClient::DaemonClient(http::Endpoint krond) : krond_(std::move(krond)), client_(krond_, client_options(krond_)) {}

Status DaemonClient::must_be_here(std::string_view what) const {
  if (!krond_.is_remote()) return {};
  return fail(Code::conflict, "this command " + std::string(what) + ", and " + krond_.text() +
                                  " may be another; run it there, or name a socket with --socket");
}

Result<DaemonClient> DaemonClient::open(const DaemonOptions& options) {
  auto place = krond_place(options);
  if (!place) return fail(place.error());
  return DaemonClient(*std::move(place));
}

Result<std::string> DaemonClient::ask(std::string_view method, const Target& target, std::string body,
                                      const http::Fields& headers) {
  auto response = client_.request(method, target.text(), std::move(body), headers);
  if (!response) return fail(with_other_krond(response.error(), krond_));
  if (response->status >= 300) return fail(refusal_in(*response, krond_));
  return std::move(response->body);
}

Result<std::string> DaemonClient::get(const Target& target) { return ask("GET", target, {}, {}); }

Result<std::string> DaemonClient::post(const Target& target, std::string body, const http::Fields& headers) {
  return ask("POST", target, std::move(body), headers);
}

Result<std::string> DaemonClient::remove(const Target& target) { return ask("DELETE", target, {}, {}); }

Result<std::string> DaemonClient::get_within(const Target& target, Nanoseconds limit) {
  http::Client::Options client_with_limit = client_options(krond_);
  client_with_limit.timeout = limit;
  http::Client client(krond_, std::move(client_with_limit));
  auto response = client.request("GET", target.text());
  if (!response) return fail(response.error());
  if (response->status >= 300) return fail(refusal_in(*response, krond_));
  return std::move(response->body);
}

Result<std::string> DaemonClient::status_with_changes() {
  auto answer = get(Target("status").parameter("changes", "true"));
  return answer || answer.error().code != Code::invalid ? answer : get(Target("status"));
}

Result<std::string> DaemonClient::post_until_answered(const Target& target, const http::Fields& headers,
                                                      const std::string& body) {
  // Nobody waits for a krond that was not there in the first place.
  if (const auto there = get(Target("status")); !there && there.error().code == Code::unreachable) return there;
  auto answer = post(target, body, headers);
  for (int tries = 1; !answer && answer.error().code == Code::unreachable && tries < kMostTries; ++tries) {
    ::nanosleep(&kBetweenTries, nullptr);
    answer = post(target, body, headers);
  }
  return answer;
}

Status DaemonClient::stream(const Target& target, const http::Fields& headers,
                            const std::function<bool(std::string_view bytes)>& on_bytes,
                            const std::function<void(const http::Response& head)>& on_head) {
  Status streamed = client_.stream(target.text(), headers, on_bytes, on_head);
  if (!streamed) return fail(with_other_krond(streamed.error(), krond_));
  return streamed;
}

Result<Node> parsed_answer(std::string_view body) {
  auto node = parse_json(body, kAnswerLimits);
  if (!node) return fail(Code::internal, "krond answered what is no JSON: " + node.error().message);
  return node;
}

int answered(std::string_view verb, bool json, const Result<std::string>& body,
             const std::function<void(const Node& answer)>& print) {
  if (!body) return refuse(verb, body.error(), json);
  if (json) {
    std::printf("%s\n", std::string(trimmed(*body)).c_str());
    return 0;
  }
  const auto node = parsed_answer(*body);
  if (!node) return refuse(verb, node.error(), json);
  print(*node);
  return 0;
}

}  // namespace kron::cli
