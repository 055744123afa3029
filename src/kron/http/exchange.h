#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "kron/http/budget.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"
#include "kron/http/server_thread.h"

namespace kron::http {

class Connection;

// What a Reply holds: the connection whose request it answers, for as long as that lives, and the way to its thread.
class Exchange {
 public:
  // `place` becomes one among the streams if the answer is a stream.
  Exchange(std::shared_ptr<ServerThread> thread, std::weak_ptr<Connection> connection, std::size_t stream_backlog,
           std::shared_ptr<Share> place)
      : thread_(std::move(thread)),
        connection_(std::move(connection)),
        stream_backlog_(stream_backlog),
        place_(std::move(place)) {}

  // As those of Reply.
  void send(Response response) const;
  std::shared_ptr<Stream> begin(Response head) const;
  void on_gone(std::function<void()> call) const;

 private:
  std::shared_ptr<ServerThread> thread_;
  std::weak_ptr<Connection> connection_;
  std::size_t stream_backlog_;
  std::shared_ptr<Share> place_;
};

}  // namespace kron::http
