#pragma once

#include <cstddef>
#include <memory>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/clock.h"
#include "kron/env/mailbox.h"
#include "kron/kube/credentials.h"
#include "kron/kube/transport.h"

namespace kron::kube {

// libcurl on a thread of its own, which takes no signals. HTTP/1.1, because a dead HTTP/2 connection stalls every
// request on it. Connections are kept: as many as calls at a time, one for the lease, one for each watch.
//
// `not_sent` is said only when no byte of a request went out. When a connection that was kept breaks before the answer
// begins, libcurl sends the request again by itself, and has no switch for that: each of our writes is one that the
// server does once, by a name that is taken, a version or a uid.
class CurlTransport : public Transport {
 public:
  struct Options {
    std::size_t calls = 16;  // at a time; the others wait
    Nanoseconds connect_timeout = Seconds(3);
    Nanoseconds call_timeout = Seconds(5);
    Nanoseconds list_timeout = Seconds(30);
    Nanoseconds plugin_timeout = Seconds(30);             // of an exec plug-in; what is to be sent waits for it
    std::size_t most_bytes = std::size_t{8} << 20;        // of an answer …
    std::size_t most_list_bytes = std::size_t{64} << 20;  // … and of a page: beyond, it is Broken
    std::size_t most_unread = std::size_t{8} << 20;       // of a watch that the loop has not taken yet; then it waits
  };

  // Answers come by the mailbox, on the thread that works it off; that thread makes all calls. Clock and mailbox
  // outlive it.
  static Result<std::unique_ptr<CurlTransport>> start(Credentials credentials, const Clock& clock, Mailbox& mailbox,
                                                      Options options);
  static Result<std::unique_ptr<CurlTransport>> start(Credentials credentials, const Clock& clock, Mailbox& mailbox);

  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;
  ~CurlTransport() override;  // no callback comes afterwards

  Id send(Request request, Lane lane, OnEnd on_end) override;
  Id open(Request request, OnBytes on_bytes, OnEnd on_end) override;
  void cancel(Id id) override;

  // For the log: why credentials cannot be read again, and whether they are shown to anybody at all.
  [[nodiscard]] const Credentials& credentials() const;

 private:
  class Loop;          // what belongs to the caller's thread
  class Worker;        // the thread
  class PluginRunner;  // that of an exec plug-in
  CurlTransport(std::shared_ptr<Loop> loop, std::unique_ptr<Worker> worker);

  std::shared_ptr<Loop> loop_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace kron::kube
