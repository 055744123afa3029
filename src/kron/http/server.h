#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "kron/base/result.h"
#include "kron/env/log.h"
#include "kron/http/limits.h"
#include "kron/http/listener.h"
#include "kron/http/message.h"
#include "kron/http/reply.h"

namespace kron::http {

// HTTP/1.1 on one or several listeners, on a thread of its own that yields to the rest of the process (nice +5) and
// takes no signals. Strict: what two readers could understand differently is answered 400 and the connection closed.
class Server {
 public:
  // On the server's thread: it holds up every other request, so it answers at once or hands the Reply on.
  using Handler = std::function<void(Request, Reply)>;
  // How large the body of this request may be (beyond: 413), or the answer to one whose body is not read at all. Asked
  // when the headers are known, of requests that have a body; `head.body` is empty then.
  using BodyLimit = std::function<std::variant<std::size_t, Response>(const Request& head)>;
  using Listeners = std::vector<std::unique_ptr<Listener>>;

  struct Options {
    Limits limits = {};
    BodyLimit body_limit = {};  // none: 1 MiB
    Fields headers = {};        // sent with every answer, those that the server itself gives included
    // For listeners where anybody may connect: who comes when there is no place left gets that of the client that came
    // first among those of whom no request was one of a preferred principal and for whom nothing is being worked on.
    bool closes_strangers = false;
  };

  // Serves when it returns. All listeners share the limits. `log` is written to from the server's thread, and outlives
  // the server.
  static Result<std::unique_ptr<Server>> start(Listeners listeners, Options options, Handler handler, Log& log);

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Has a task done by the server's thread, behind what it has to do. May outlive the server, and drops the task
  // then.
  using Post = std::function<void(std::function<void()>)>;
  Post poster() const;

  // Closes the connections of those whose last request came from such a principal, streams and all: they are let in no
  // longer; an answer that is being written still goes out. Soon; from any thread; may outlive the server. `is_meant`
  // is asked on the server's thread.
  using Close = std::function<void(std::function<bool(const Principal&)> is_meant)>;
  Close closer() const;

  // Stops listening, ends the listeners, ends or cuts the streams (Stream::counts_as_whole), closes all connections; no
  // handler runs afterwards.
  ~Server();

 private:
  class Loop;
  explicit Server(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace kron::http
