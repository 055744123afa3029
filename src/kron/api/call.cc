#include "kron/api/call.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/http/gzip.h"

namespace kron::api {
namespace {

constexpr std::int64_t kUsualLimit = 100;
constexpr std::int64_t kMostAtOnce = 1000;
constexpr int kOk = 200;
constexpr int kNotModified = 304;
constexpr int kTooManyStreams = 503;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error about(std::string_view name, Error error) {
  error.message = "the parameter " + std::string(name) + ": " + error.message;
  error.field = name;
  return error;
}

// Whether a list of tags, or `*`, has this one, which is weak; what is strong says the same (weak comparison).
bool names_tag(std::string_view list, std::string_view tag) {
  tag.remove_prefix(2);
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, end);
    one.remove_prefix(std::min(one.find_first_not_of(" \t"), one.size()));
    one = one.substr(0, one.find_last_not_of(" \t") + 1);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == tag || one == "*") return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

template <class Value>
Result<std::optional<Value>> parsed(const http::Request& request, std::string_view name,
                                    Result<Value> (*parse)(std::string_view)) {
  const auto text = request.parameter(name);
  if (!text) return std::optional<Value>();
  Result<Value> value = parse(*text);
  if (!value) return fail(about(name, value.error()));
  return std::optional<Value>(*std::move(value));
}

}  // namespace

Call::Call(http::Request asked, std::vector<std::string> path_names, http::Reply way_back, Answered note,
           Aside compress_on)
    : asked_(std::move(asked)),
      names(std::move(path_names)),
      reply_(std::move(way_back)),
      answered_(std::move(note)),
      compress_on_(std::move(compress_on)) {}

void Call::send(http::Response response) {
  if (answered_) answered_(response.status);
  reply_.send(std::move(response));
}

void Call::send_text(std::string body, std::string content_type, int status) {
  http::Response response{
      .status = status, .content_type = std::move(content_type), .headers = {}, .body = std::move(body)};
  if (status == kOk) add_tag(response);
  if (response.body.size() < kLeastCompressed || !compress_on_) return send(std::move(response));
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!http::accepts_gzip(request)) return send(std::move(response));
  // Not here: this may be the loop, or the thread of the history, and it takes milliseconds.
  const auto shared = std::make_shared<http::Response>(std::move(response));
  const bool taken = compress_on_([self = shared_from_this(), shared] {
    std::string compressed = http::gzipped(shared->body);
    if (!compressed.empty()) {
      shared->body = std::move(compressed);
      shared->headers.emplace_back("Content-Encoding", "gzip");
    }
    self->send(std::move(*shared));
  });
  if (!taken) send(std::move(*shared));
}

bool Call::is_known_by(std::string tag) {
  // Weak: compressed or not, it says the same.
  tag_ = "W/\"" + std::move(tag) + "\"";
  const auto known = request.header("if-none-match");
  if (!known || !names_tag(*known, tag_)) return false;
  http::Response response{.status = kNotModified, .content_type = {}};
  add_tag(response);
  send(std::move(response));
  return true;
}

void Call::add_tag(http::Response& response) const {
  if (tag_.empty()) return;
  response.headers.emplace_back("ETag", tag_);
  response.headers.emplace_back("Cache-Control", "private, no-cache");
}

std::shared_ptr<http::Stream> Call::begin(http::Response head) {
  const int status = head.status;
  auto stream = reply_.begin(std::move(head));
  if (answered_) answered_(stream ? status : kTooManyStreams);
  return stream;
}

Result<std::optional<Instant>> time_parameter(const http::Request& request, std::string_view name) {
  return parsed<Instant>(request, name, parse_rfc3339);
}

Result<std::optional<Seconds>> duration_parameter(const http::Request& request, std::string_view name) {
  return parsed<Seconds>(request, name, parse_whole_seconds);
}

Result<std::int64_t> number_parameter(const http::Request& request, std::string_view name, std::int64_t otherwise,
                                      std::int64_t least, std::int64_t most) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value >= least && value <= most) return value;
  return fail(about(name, {Code::invalid, quoted(*text) + " is not a whole number from " + std::to_string(least) +
                                              " to " + std::to_string(most)}));
}

Result<std::size_t> limit_parameter(const http::Request& request) {
  const auto limit = number_parameter(request, "limit", kUsualLimit, 1, kMostAtOnce);
  if (!limit) return fail(limit.error());
  return static_cast<std::size_t>(*limit);
}

Result<Nanoseconds> wait_parameter(const http::Request& request, std::string_view name, Nanoseconds most) {
  const auto wait = parsed<Nanoseconds>(request, name, parse_duration);
  if (!wait) return fail(wait.error());
  if (*wait && **wait > most) {
    return fail(about(name, {Code::invalid, "is at most " + duration_text(most) + "; ask again"}));
  }
  return wait->value_or(Nanoseconds(0));
}

std::string text_parameter(const http::Request& request, std::string_view name) {
  return std::string(request.parameter(name).value_or(""));
}

Result<std::optional<std::string>> word_parameter(const http::Request& request, std::string_view name,
                                                  std::initializer_list<std::string_view> words) {
  const auto text = request.parameter(name);
  if (!text) return std::optional<std::string>();
  std::string choices;
  for (const std::string_view word : words) {
    if (word == *text) return std::optional<std::string>(word);
    choices += (choices.empty() ? "" : ", ") + std::string(word);
  }
  return fail(about(name, {Code::invalid, quoted(*text) + " is none of " + choices}));
}

Status check_no_byte_order_mark(std::string_view body) {
  if (!body.starts_with(kByteOrderMark)) return {};
  return fail(Code::invalid, "the body begins with a byte order mark; send the JSON without it");
}

Result<Node> object_in(const std::string& body) {
  if (trimmed(body).empty()) return Node(Node::Map());
  if (Status plain = check_no_byte_order_mark(body); !plain) return fail(plain.error());
  Result<Node> document = parse_json(body);
  if (document && document->as<Node::Map>() == nullptr) {
    return fail(Code::invalid, "the body is a JSON object, not " + std::string(kind_of(*document)));
  }
  return document;
}

}  // namespace kron::api
