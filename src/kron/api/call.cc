#include "kron/api/call.h"

#include <charconv>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"

namespace kron::api {
namespace {

constexpr std::int64_t kUsualLimit = 100;
constexpr std::int64_t kMostAtOnce = 1000;
constexpr int kTooManyStreams = 503;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error about(std::string_view name, Error error) {
  error.message = "the parameter " + std::string(name) + ": " + error.message;
  error.field = name;
  return error;
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

Call::Call(http::Request asked, std::vector<std::string> path_names, http::Reply way_back, Answered note)
    : asked_(std::move(asked)), names(std::move(path_names)), reply_(std::move(way_back)), answered_(std::move(note)) {}

void Call::send(http::Response response) {
  if (answered_) answered_(response.status);
  reply_.send(std::move(response));
}

void Call::send_json(std::string body, int status) {
  send({.status = status, .content_type = "application/json", .headers = {}, .body = std::move(body)});
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
