#include "kron/http/response_reader.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>

#include "kron/base/text.h"

namespace kron::http {
namespace {

namespace beast = boost::beast;

constexpr std::uint32_t kMostHeaderBytes = std::uint32_t{64} << 10U;

}  // namespace

class ResponseReader::Parser : public beast::http::basic_parser<false> {
 public:
  explicit Parser(std::size_t most_bytes) : most_bytes_(most_bytes) {
    body_limit(boost::none);
    header_limit(kMostHeaderBytes);
    eager(true);
    response.content_type.clear();
  }

  Response response;

 private:
  using Text = beast::string_view;
  using ErrorCode = beast::error_code;

  void on_request_impl(beast::http::verb, Text, Text, int, ErrorCode&) override {}
  void on_response_impl(int status, Text, int, ErrorCode&) override { response.status = status; }
  void on_field_impl(beast::http::field field, Text name, Text value, ErrorCode&) override {
    if (is_header_done()) return;
    if (field == beast::http::field::content_type) response.content_type.assign(value.data(), value.size());
    response.headers.emplace_back(lower(std::string_view(name.data(), name.size())),
                                  std::string(value.data(), value.size()));
  }
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text body, ErrorCode& error) override {
    if (response.body.size() + body.size() > most_bytes_) {
      error = beast::http::error::body_limit;
      return 0;
    }
    response.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, ErrorCode& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(ErrorCode&) override {}

  std::size_t most_bytes_;
};

ResponseReader::ResponseReader(bool has_body, std::size_t most_bytes) : has_body_(has_body), most_bytes_(most_bytes) {
  restart();
}

ResponseReader::~ResponseReader() = default;

void ResponseReader::restart() {
  parser_ = std::make_unique<Parser>(most_bytes_);
  parser_->skip(!has_body_);
}

Status ResponseReader::received(std::string_view bytes) {
  unread_ += bytes;
  std::size_t used = 0;
  while (used < unread_.size() && !parser_->is_done()) {
    boost::system::error_code error;
    used += parser_->put({unread_.data() + used, unread_.size() - used}, error);
    if (error == beast::http::error::need_more) break;
    if (error == beast::http::error::body_limit) {
      return fail(Code::invalid, "the answer is larger than " + std::to_string(most_bytes_) + " bytes");
    }
    if (error) return fail(Code::invalid, "the answer is not HTTP/1.1: " + error.message());
    if (parser_->is_done() && parser_->response.status < 200) restart();
  }
  unread_.erase(0, used);
  if (parser_->is_done() && !unread_.empty()) {
    return fail(Code::invalid, "the server sent more than the answer");
  }
  return {};
}

Status ResponseReader::closed() {
  if (parser_->is_done()) return {};
  boost::system::error_code error = beast::http::error::partial_message;
  if (parser_->got_some()) parser_->put_eof(error);
  if (error) return fail(Code::unreachable, "the answer broke off");
  return {};
}

bool ResponseReader::has_begun() const { return parser_->got_some(); }
bool ResponseReader::has_head() const { return parser_->is_header_done(); }
bool ResponseReader::is_complete() const { return parser_->is_done(); }
bool ResponseReader::is_last() const { return !parser_->keep_alive(); }
Response& ResponseReader::response() { return parser_->response; }

}  // namespace kron::http
