#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "kron/http/budget.h"
#include "kron/http/head_check.h"
#include "kron/http/limits.h"
#include "kron/http/message.h"

namespace kron::http {

// Makes requests of the bytes of one connection, however they are cut. Knows no socket; keeps no more than the largest
// head, and the one body it is reading.
class RequestReader {
 public:
  enum class Stage : std::uint8_t {
    head,      // the headers are not complete
    body,      // the body is not
    complete,  // take() it; what came behind it is kept
    refused,   // refusal() says why; the connection is of no more use
  };
  // How large the body may be, or the answer to a request whose body is not to be read at all.
  using BodyLimit = std::function<std::variant<std::size_t, Response>(const Request& head)>;

  // Who sends a request, when its head is known: Listener::identify.
  using Identify = std::function<std::variant<Principal, Response>(const Request& head)>;

  // `limits` and `body_limit` outlive the reader. `connected` is who requests are from, unless `identify` says more.
  // Bodies take of `bodies` for him; none: no limit.
  RequestReader(const Limits& limits, const BodyLimit& body_limit, Principal connected = {}, Identify identify = {},
                std::shared_ptr<Budget> bodies = {});
  ~RequestReader();

  // Where the next bytes go; never empty in the stages head and body. Then how many came.
  std::span<char> room();
  Stage received(std::size_t size);

  Stage stage() const { return stage_; }
  bool is_idle() const;           // no byte of a request is there
  bool expects_continue() const;  // in the stage body: the client waits for a 100 before it sends one

  Request take();
  // Of the request that was read last, until the next one.
  bool is_last() const { return is_last_; }              // the connection closes behind the answer
  bool allows_chunks() const { return allows_chunks_; }  // not so HTTP/1.0
  // Goes on, behind the request that was taken, with what has come already.
  Stage next();

  const Response& refusal() const { return *refusal_; }

 private:
  class Parser;

  std::string_view unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void read_head();
  void read_body();
  void parse(std::string_view bytes);
  void refuse(Response response);

  const Limits& limits_;
  const BodyLimit& body_limit_;
  Principal connected_;
  Identify identify_;
  std::shared_ptr<Budget> bodies_;
  Stage stage_ = Stage::head;
  std::optional<HeadCheck> head_check_;
  std::unique_ptr<Parser> parser_;
  std::optional<Response> refusal_;
  bool is_last_ = false;
  bool allows_chunks_ = false;
  bool skipped_empty_line_ = false;
  std::size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;  // of what is not used up
  std::size_t end_ = 0;
};

}  // namespace kron::http
