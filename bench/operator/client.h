#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kron/env/clock.h"
#include "kron/env/mailbox.h"
#include "kron/kube/config.h"
#include "kron/kube/curl_transport.h"

namespace kron::bench {

// The operator's own transport, 16 calls at a time, and nothing else. What is not as it should be ends the benchmark.
class Client {
 public:
  explicit Client(const kube::Connection& connection);

  // For an answer that is no refusal.
  void send(kube::Request request, kube::Lane lane, std::function<void(const std::string& body)> then);
  // A watch; it does not end.
  void open(kube::Request request, std::function<void(std::string_view bytes)> then);
  void run_until(const std::function<bool()>& is_done);
  // The answer, once it is there.
  std::string ask(kube::Request request);
  kube::Transport& transport() { return *transport_; }

 private:
  RealClock clock_;
  Mailbox mailbox_;
  std::unique_ptr<kube::CurlTransport> transport_;
};

}  // namespace kron::bench
