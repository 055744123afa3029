#include "kron/http/message.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron::http {
namespace {

constexpr std::string_view kProblemType = "application/problem+json";
constexpr std::string_view kCodePrefix = "urn:kron:problem:";

struct Reason {
  int status;
  std::string_view phrase;
};

constexpr std::array kReasons{
    Reason{100, "Continue"},
    Reason{200, "OK"},
    Reason{201, "Created"},
    Reason{202, "Accepted"},
    Reason{204, "No Content"},
    Reason{206, "Partial Content"},
    Reason{301, "Moved Permanently"},
    Reason{302, "Found"},
    Reason{303, "See Other"},
    Reason{304, "Not Modified"},
    Reason{307, "Temporary Redirect"},
    Reason{308, "Permanent Redirect"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{406, "Not Acceptable"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{410, "Gone"},
    Reason{411, "Length Required"},
    Reason{412, "Precondition Failed"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{415, "Unsupported Media Type"},
    Reason{416, "Range Not Satisfiable"},
    Reason{417, "Expectation Failed"},
    Reason{421, "Misdirected Request"},
    Reason{422, "Unprocessable Content"},
    Reason{428, "Precondition Required"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{503, "Service Unavailable"},
    Reason{504, "Gateway Timeout"},
    Reason{505, "HTTP Version Not Supported"},
};

std::optional<std::string_view> first_of(const Fields& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Fields::value_type::first);
  if (found == fields.end()) return std::nullopt;
  return found->second;
}

Response problem_document(int status, std::string_view type, const Error& error) {
  JsonWriter json;
  json.begin_map().member("type", type).member("title", reason_of(status)).key("status").integer(status);
  json.member("detail", error.message);
  if (!error.field.empty()) json.member("field", error.field);
  if (error.column != 0) json.key("column").integer(static_cast<std::int64_t>(error.column));
  json.end_map();
  return Response{status, std::string(kProblemType), {}, json.take()};
}

Code code_of_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return Code::refused;
    case 404:
    case 410:
      return Code::not_found;
    case 409:
    case 412:
      return Code::conflict;
    case 503:
    case 504:
      return Code::unreachable;
    default:
      return status >= 500 ? Code::internal : Code::invalid;
  }
}

// A type says more than a status, where several codes share one.
Code code_of(std::string_view type, int status) {
  if (type.starts_with(kCodePrefix)) {
    for (const Code code : {Code::invalid, Code::not_found, Code::unreadable, Code::unreachable, Code::refused,
                            Code::conflict, Code::io, Code::internal}) {
      if (type.substr(kCodePrefix.size()) == name_of(code)) return code;
    }
  }
  return code_of_status(status);
}

std::string text_in(const Node& document, std::string_view key) {
  const Node* member = document.find(key);
  const std::string* text = member == nullptr ? nullptr : member->as<std::string>();
  return text == nullptr ? std::string() : *text;
}

}  // namespace

std::optional<std::string_view> Request::header(std::string_view name) const { return first_of(headers, name); }
std::optional<std::string_view> Request::parameter(std::string_view name) const { return first_of(query, name); }
std::optional<std::string_view> Response::header(std::string_view name) const { return first_of(headers, name); }

std::string_view reason_of(int status) {
  const auto found = std::ranges::find(kReasons, status, &Reason::status);
  return found == kReasons.end() ? std::string_view() : found->phrase;
}

Response problem(const Error& error) {
  return problem_document(http_status(error.code), std::string(kCodePrefix).append(name_of(error.code)), error);
}

Response problem(int status, std::string_view detail) {
  return problem_document(status, "about:blank", Error{Code::invalid, std::string(detail)});
}

Error error_in(const Response& response) {
  Error error{code_of_status(response.status), "the server answered " + std::to_string(response.status)};
  if (const std::string_view reason = reason_of(response.status); !reason.empty()) {
    error.message.append(" ").append(reason);
  }
  if (response.content_type != kProblemType) return error;
  const Result<Node> document = parse_json(response.body);
  if (!document) return error;
  error.code = code_of(text_in(*document, "type"), response.status);
  if (std::string detail = text_in(*document, "detail"); !detail.empty()) error.message = std::move(detail);
  error.field = text_in(*document, "field");
  const Node* column = document->find("column");
  if (const auto* number = column == nullptr ? nullptr : column->as<std::int64_t>(); number != nullptr && *number > 0) {
    error.column = static_cast<std::size_t>(*number);
  }
  return error;
}

}  // namespace kron::http
