#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"

namespace kron::http {

// Sends requests on to a server on a unix socket, and its answers back, in pieces as they come. Each has a connection
// of its own there, which is closed when the client hangs up. A slow client slows down the server behind, not this one.
// All of it on one thread of its own. It outlives the server whose requests it forwards.
class Forwarder {
 public:
  struct Options {
    Nanoseconds timeout = Seconds(120);  // from a request to the head of its answer; then 504
    std::size_t most = 256;              // requests at a time; one more: 503
    std::string cure = "is krond running? see `kron doctor`";
    std::vector<std::string> passed = {};  // headers of an answer that are passed on, in lower case; no others are
  };

  // What is sent on: nothing of the client's request but this.
  struct Outgoing {
    std::string method = {};
    std::string target = {};
    Fields headers = {};
    std::string body = {};
    Fields added = {};        // to the answer
    std::string before = {};  // the body of an answer with status 200, if it is passed on as it comes
    // If there is one: makes the client's answer of the server's, which it gets whole and with all its headers. On the
    // forwarder's thread.
    std::function<Response(Response)> adapt = {};
    // If there is one: told the status of the server's answer. On the forwarder's thread.
    std::function<void(int status)> answered = {};
  };

  static Result<std::unique_ptr<Forwarder>> start(std::string socket_path, Options options);

  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;
  ~Forwarder();

  // From the thread of the server that the reply is of. When nobody answers, the client is told 503; when the answer
  // breaks off before its head, 504 and that the request may have been obeyed; later, its connection is cut.
  void forward(Outgoing request, Reply reply);

  // What becomes of the answer to a request of our own. All of it on the forwarder's thread.
  struct Follower {
    // Nothing of the answer is still to come: it is whole, or there is none, and this says why (503, 504).
    std::function<void(Response answer)> answered = {};
    // Or it goes on. Its head, then what comes, in order; and at last, whether that was all of it.
    std::function<void(const Response& head)> begun = {};
    std::function<void(std::string_view bytes)> piece = {};
    std::function<void(bool is_whole)> ended = {};
  };
  // Asks for something that no client waits for; returns the number to give it up by. A piece is read when the one
  // before was taken. `added`, `adapt` and `answered` of the request count for nothing. From any thread, as both that
  // follow.
  std::uint64_t follow(Outgoing request, Follower follower);
  // Nothing more is heard of it; but what the forwarder's thread is just telling is told.
  void give_up(std::uint64_t number);

  // Has a task done by the forwarder's thread, behind what it has to do. Dropped when the forwarder ends.
  void post(std::function<void()> task);

  // How many are on their way, or have an answer that goes on. From any thread.
  std::size_t under_way() const;

 private:
  class Loop;
  explicit Forwarder(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace kron::http
