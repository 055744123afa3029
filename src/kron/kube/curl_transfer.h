#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kron/kube/credentials.h"
#include "kron/kube/transport.h"

// One request as libcurl carries it; used on the thread of curl_transport alone.
namespace kron::kube {

// What is to be done, and who hears of it (on the thread of the transport).
struct CurlOrder {
  Transport::Id id = 0;
  Request request;
  Lane lane = Lane::call;
  bool is_stream = false;
  Material material = {};
  std::shared_ptr<std::atomic<std::size_t>> unread = {};  // bytes of a stream that are told and not taken
};

struct CurlLimits {
  Nanoseconds connect_timeout;
  Nanoseconds timeout;  // zero: none
  std::size_t most_bytes;
  std::size_t most_unread;
};

class CurlTransfer {
 public:
  using Tell = std::function<void(std::string bytes)>;

  CurlTransfer(CurlOrder order, const Connection& connection, const CurlLimits& limits, Tell tell);
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  ~CurlTransfer();  // it is in no multi handle any more

  // A CURL*; null: there is no memory.
  [[nodiscard]] void* handle() const { return easy_; }
  [[nodiscard]] Transport::Id id() const { return order_.id; }
  [[nodiscard]] bool counts_as_call() const { return !order_.is_stream && order_.lane != Lane::lease; }
  // What became of it, by libcurl's code.
  [[nodiscard]] Outcome outcome(int result) const;
  // A stream that waited goes on when the loop has taken enough.
  void go_on();

 private:
  static std::size_t take(char* bytes, std::size_t, std::size_t size, void* self);
  std::size_t take_part(std::string_view part);
  void describe(const Connection& connection, const CurlLimits& limits);
  void describe_request();
  void describe_tls(const Connection& connection);
  void add_header(const std::string& line);

  CurlOrder order_;
  std::string url_;
  std::size_t most_bytes_;
  std::size_t most_unread_;
  Tell tell_;
  void* easy_;
  void* headers_ = nullptr;  // curl_slist*, as the next
  void* connect_to_ = nullptr;
  std::array<char, 256> error_{};  // CURL_ERROR_SIZE
  std::string body_;
  bool is_too_large_ = false;
  bool is_paused_ = false;
};

}  // namespace kron::kube
