#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "kron/http/message.h"

namespace kron::http {

class Backlog;
class Exchange;

// The body of an answer that goes on: events, output that is followed. May be used from any thread; never blocks.
class Stream {
 public:
  explicit Stream(std::shared_ptr<Backlog> backlog);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();  // ends it

  // False, now and ever after: the reader is gone, or so slow that more than Limits::stream_backlog bytes would wait
  // for it, in which case the connection is cut so that the reader can tell.
  bool write(std::string bytes);

  // The answer is complete: what was written still goes out, and the connection serves the next request.
  void end();

  // The answer will never be complete: the connection is closed without the end of the body, so that the reader can
  // tell. What waits is dropped.
  void cut();

  // What is sent has an end of its own, which its reader goes by: when the server ends before it, the stream is cut.
  // Others, events without end, end then.
  void counts_as_whole();

  // Calls back once, on the server's thread, when nothing waits any more: how to send what is larger than the backlog.
  // Never, if the reader goes first.
  void on_drained(std::function<void()> call);

 private:
  std::shared_ptr<Backlog> backlog_;
};

// Answers one request, once, from any thread. One that is destroyed without an answer says 500.
// After the server is gone all of it does nothing.
class Reply {
 public:
  explicit Reply(std::unique_ptr<Exchange> exchange);
  Reply(Reply&&) noexcept;
  Reply& operator=(Reply&&) noexcept;
  ~Reply();

  void send(Response response);

  // Sends the head of `head` and then what is written to the stream; its body is the first piece. Nothing when there
  // are too many streams already (Limits::streams): the client was told so, with a 503.
  std::shared_ptr<Stream> begin(Response head);

  // Called once, on the server's thread, when the client hangs up before its answer is complete: a long poll that
  // nobody waits for, a stream that nobody reads. Set it before send() or begin(). Not called when the server ends.
  void on_gone(std::function<void()> call);

 private:
  std::unique_ptr<Exchange> exchange_;  // none once answered
};

}  // namespace kron::http
