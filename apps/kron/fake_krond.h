#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_rig.h"
#include "kron/http/fake/server_rig.h"

// A krond that only says what the test has it say, on a real socket.
namespace kron::testing {

class FakeKrond {
 public:
  FakeKrond()
      : server_([this](const http::Request& request, http::Reply reply) { answer(request, std::move(reply)); }) {}

  std::string socket() const { return server_.socket_path(); }
  // Made while testing::way_in() was TLS.
  std::string url() const { return "https://localhost:" + std::to_string(server_.port()); }
  void stop() { server_.stop(); }

  // `GET /jobs?limit=100`, without the /api/v1 in front: one answer after the other, and the last one again and again.
  // What is not known is answered 404.
  void on(const std::string& request, http::Response response) {
    const std::scoped_lock lock(mutex_);
    answers_[request].push_back(std::move(response));
  }
  void on(const std::string& request, std::string body, int status = 200) {
    on(request, http::Response{.status = status, .body = std::move(body)});
  }
  void refuse(const std::string& request, const Error& error) { on(request, http::problem(error)); }
  // A body in pieces, and then its end; or the connection is closed before.
  void stream(const std::string& request, std::vector<std::string> pieces, bool is_whole = true) {
    const std::scoped_lock lock(mutex_);
    streams_[request].push_back({std::move(pieces), is_whole});
  }

  // Never answered.
  void hold(const std::string& request) {
    const std::scoped_lock lock(mutex_);
    held_requests_.insert(request);
  }

  // What was asked, in order, as in `on`, with the body behind it if there is one.
  std::vector<std::string> asked() const {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }
  // The values of that header, in order; "-" for requests without.
  std::vector<std::string> headers(std::string_view name) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> values;
    for (const http::Fields& fields : headers_) {
      const auto found = std::ranges::find(fields, name, &http::Fields::value_type::first);
      values.push_back(found == fields.end() ? "-" : found->second);
    }
    return values;
  }

  // `kron WORD… --socket SOCKET`
  Ran kron(std::vector<std::string> words, std::string_view input = {}) const {
    words.emplace_back("--socket");
    words.push_back(socket());
    return testing::kron(words, input);
  }

 private:
  struct Pieces {
    std::vector<std::string> pieces;
    bool is_whole = true;
  };

  template <class Answer>
  static Answer next_of(std::vector<Answer>& answers) {
    Answer next = answers.front();
    if (answers.size() > 1) answers.erase(answers.begin());
    return next;
  }

  void answer(const http::Request& request, http::Reply reply) {
    const std::scoped_lock lock(mutex_);
    constexpr std::string_view kBase = "/api/v1";
    const bool is_ours = request.target.starts_with(kBase);
    const std::string line = request.method + " " + request.target.substr(is_ours ? kBase.size() : 0);
    asked_.push_back(request.body.empty() ? line : line + " " + request.body);
    headers_.push_back(request.headers);
    if (held_requests_.contains(line)) return held_.push_back(std::move(reply));
    if (const auto streams = streams_.find(line); streams != streams_.end()) {
      const Pieces pieces = next_of(streams->second);
      const auto stream =
          reply.begin({.content_type = "application/octet-stream", .headers = {{"Last-Event-ID", "7"}}});
      for (const std::string& piece : pieces.pieces) stream->write(piece);
      return pieces.is_whole ? stream->end() : stream->cut();
    }
    const auto known = answers_.find(line);
    if (known == answers_.end()) return reply.send(http::problem({Code::not_found, "nobody has taught me " + line}));
    reply.send(next_of(known->second));
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<http::Response>> answers_;
  std::map<std::string, std::vector<Pieces>> streams_;
  std::vector<std::string> asked_;
  std::vector<http::Fields> headers_;
  std::set<std::string> held_requests_;
  std::vector<http::Reply> held_;
  ServerRig server_;
};

}  // namespace kron::testing

namespace kron::cli {

using testing::FakeKrond;

}  // namespace kron::cli
