#include "kron/http/request_reader.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "kron/base/text.h"
#include "kron/http/target.h"

namespace kron::http {
namespace {

namespace beast = boost::beast;

// Room for the longest line between two chunks, however small the head may be.
constexpr std::size_t kSmallestBuffer = 4096;

Response too_much_at_once() {
  Response response = problem(503, "too much is being sent at once; try again");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

Response response_to(const boost::system::error_code& error) {
  if (error == beast::http::error::body_limit) return problem(413, "the body is larger than this request may have");
  return problem(400, "not HTTP/1.1: " + error.message());
}

// Whether the line before a chunk ends within a quoted value of an extension. Beast would look for the closing quote in
// the lines behind it, and count the chunk once more each time it has to wait for bytes: what it makes of them would
// depend on how they come.
bool ends_in_quotes(std::string_view bytes) {
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  const std::size_t size = bytes.find("\r\n");
  if (size == std::string_view::npos) return false;
  bool is_quoted = false;
  for (std::size_t i = 0; i < size; ++i) {
    if (is_quoted && bytes[i] == '\\') {
      ++i;
    } else if (bytes[i] == '"') {
      is_quoted = !is_quoted;
    }
  }
  return is_quoted;
}

}  // namespace

// Fills a Request. HeadCheck has seen the head before; what this adds is the body.
class RequestReader::Parser : public beast::http::basic_parser<true> {
 public:
  Parser(const BodyLimit& may_have, const Principal& connected, const Identify& identify,
         const std::shared_ptr<Budget>& bodies)
      : may_have_(may_have), identify_(identify), bodies_(bodies) {
    request.principal = connected;
    // Asked for when the headers are known; the head has its own limit.
    body_limit(boost::none);
    header_limit(std::numeric_limits<std::uint32_t>::max());
  }

  // Whether the next bytes are the line before a chunk, with the line end behind the chunk before it.
  bool awaits_chunk() { return chunked() && chunk_left_ == 0; }

  Request request;
  std::optional<Response> refusal;  // when the error is ours

 private:
  using Text = beast::string_view;
  using ErrorCode = beast::error_code;

  void on_request_impl(beast::http::verb, Text method, Text target, int, ErrorCode&) override {
    request.method.assign(method.data(), method.size());
    request.target.assign(target.data(), target.size());
  }
  void on_response_impl(int, Text, int, ErrorCode&) override {}

  void on_field_impl(beast::http::field, Text name, Text value, ErrorCode&) override {
    // What comes behind a chunked body must not pass for a header that was checked.
    if (is_header_done()) return;
    request.headers.emplace_back(lower(std::string_view(name.data(), name.size())),
                                 std::string(value.data(), value.size()));
  }

  void on_header_impl(ErrorCode& error) override {
    Result<Target> target = http::parse_target(request.target);
    if (!target) {
      refusal = problem(400, target.error().message);
      error = beast::http::error::bad_target;
      return;
    }
    request.segments = std::move(target->segments);
    request.query = std::move(target->query);
    if (identify_) {
      auto identified = identify_(request);
      if (auto* no = std::get_if<Response>(&identified)) return refuse(std::move(*no), error);
      request.principal = std::get<Principal>(std::move(identified));
    }
    if (!chunked() && content_length().value_or(0) == 0) return;
    if (bodies_) request.body_share = std::make_shared<Share>(bodies_, user_of(request.principal));
    const auto may_have = may_have_(request);
    if (const auto* no = std::get_if<Response>(&may_have)) return refuse(*no, error);
    const std::size_t limit = std::get<std::size_t>(may_have);
    if (content_length().value_or(0) > limit) {
      return refuse(
          problem(413, "the body is larger than the " + std::to_string(limit) + " bytes this request may have"), error);
    }
    body_limit(limit);
  }

  void refuse(Response response, ErrorCode& error) {
    refusal = std::move(response);
    error = beast::http::error::body_limit;
  }

  // Counts what has come, not what was announced: one who announces much and sends nothing takes nothing from others.
  bool has_room_for(std::size_t more) {
    const std::size_t size = request.body.size() + more;
    if (!request.body_share || size <= kSmallBody) return true;
    return request.body_share->grow(size - kSmallBody - request.body_share->amount());
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text body, ErrorCode& error) override {
    if (!has_room_for(body.size())) {
      refuse(too_much_at_once(), error);
      return 0;
    }
    request.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, Text, ErrorCode&) override { chunk_left_ = size; }
  std::size_t on_chunk_body_impl(std::uint64_t left, Text body, ErrorCode& error) override {
    chunk_left_ = left - body.size();
    return on_body_impl(body, error);
  }
  void on_finish_impl(ErrorCode&) override {}

  std::uint64_t chunk_left_ = 0;
  const BodyLimit& may_have_;
  const Identify& identify_;
  const std::shared_ptr<Budget>& bodies_;
};

RequestReader::RequestReader(const Limits& limits, const BodyLimit& body_limit, Principal connected, Identify identify,
                             std::shared_ptr<Budget> bodies)
    : limits_(limits),
      body_limit_(body_limit),
      connected_(std::move(connected)),
      identify_(std::move(identify)),
      bodies_(std::move(bodies)),
      capacity_(std::max(limits.header_bytes, kSmallestBuffer)),
      buffer_(std::make_unique_for_overwrite<char[]>(capacity_)) {
  head_check_.emplace(limits_);
}

RequestReader::~RequestReader() = default;

std::span<char> RequestReader::room() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  return {buffer_.get() + end_, capacity_ - end_};
}

RequestReader::Stage RequestReader::received(std::size_t size) {
  end_ += size;
  return next();
}

RequestReader::Stage RequestReader::next() {
  if (stage_ == Stage::head) read_head();
  if (stage_ == Stage::body) read_body();
  return stage_;
}

bool RequestReader::is_idle() const { return stage_ == Stage::head && begin_ == end_; }

bool RequestReader::expects_continue() const {
  return stage_ == Stage::body && allows_chunks_ && begin_ == end_ && parser_->request.body.empty() &&
         parser_->request.header("expect").has_value();
}

Request RequestReader::take() {
  Request request = std::move(parser_->request);
  parser_.reset();
  head_check_.emplace(limits_);
  skipped_empty_line_ = false;
  stage_ = Stage::head;
  return request;
}

void RequestReader::read_head() {
  // A client that writes a line end behind its body means no harm; RFC 9112 asks to overlook one.
  if (!skipped_empty_line_ && unread().starts_with("\r\n")) {
    begin_ += 2;
    skipped_empty_line_ = true;
  }
  if (const auto refusal = head_check_->look(unread())) return refuse(problem(refusal->status, refusal->detail));
  if (head_check_->size() == 0) return;
  parser_ = std::make_unique<Parser>(body_limit_, connected_, identify_, bodies_);
  stage_ = Stage::body;
  parse(unread().substr(0, head_check_->size()));
  if (stage_ == Stage::refused) return;
  if (!parser_->is_header_done()) return refuse(problem(400, "not HTTP/1.1"));
  allows_chunks_ = head_check_->is_http_1_1();
  is_last_ = !allows_chunks_ || !parser_->keep_alive();
}

void RequestReader::read_body() {
  // One line, chunk or body at a time, so that each line before a chunk is seen.
  bool goes_on = true;
  while (goes_on && !parser_->is_done() && begin_ < end_) {
    if (parser_->awaits_chunk() && ends_in_quotes(unread())) {
      return refuse(problem(400, "not HTTP/1.1: the extension of a chunk has no closing quote"));
    }
    const std::size_t before = begin_;
    parse(unread());
    if (stage_ == Stage::refused) return;
    goes_on = begin_ > before;
  }
  if (parser_->is_done()) {
    stage_ = Stage::complete;
  } else if (end_ - begin_ == capacity_) {
    refuse(problem(431, "a line between two chunks of the body is too long"));
  }
}

void RequestReader::parse(std::string_view bytes) {
  boost::system::error_code error;
  begin_ += parser_->put({bytes.data(), bytes.size()}, error);
  if (!error || error == beast::http::error::need_more) return;
  refuse(parser_->refusal ? *std::move(parser_->refusal) : response_to(error));
}

void RequestReader::refuse(Response response) {
  refusal_ = std::move(response);
  parser_.reset();  // with what it has of a body: the connection may linger
  stage_ = Stage::refused;
}

}  // namespace kron::http
