#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/http/message.h"

namespace kron::http {

// Makes one response of the bytes a server sends, however they are cut. An informational one (100) is passed over.
class ResponseReader {
 public:
  // `has_body`: false for the answer to a HEAD. A body beyond `most_bytes` is an error.
  ResponseReader(bool has_body, std::size_t most_bytes);
  ~ResponseReader();

  // Code invalid: that is no HTTP/1.1.
  Status received(std::string_view bytes);
  // The server has closed: what has come is all there will be. Code unreachable if that is not the whole.
  Status closed();

  bool has_begun() const;  // a byte of it is there
  bool has_head() const;   // the status and the headers are
  bool is_complete() const;
  bool is_last() const;  // the server closes behind it

  // What is known: the status and headers from has_head() on. Whoever reads a body in pieces empties it there.
  Response& response();

 private:
  class Parser;

  void restart();

  bool has_body_;
  std::size_t most_bytes_;
  std::unique_ptr<Parser> parser_;
  std::string unread_;
};

}  // namespace kron::http
