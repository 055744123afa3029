#include "kron/http/multipart.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kron/base/sha256.h"
#include "kron/base/text.h"
#include "kron/http/characters.h"

namespace kron::http {
namespace {

constexpr std::string_view kFormData = "multipart/form-data";
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kMostParts = 16;
constexpr std::size_t kMostHeadBytes = 4096;
constexpr std::size_t kLongestBoundary = 70;

tl::unexpected<Error> broken(const std::string& problem) {
  return fail(Code::invalid, "the multipart body is broken: " + problem);
}

// A header's value: `first; name=value; name="value"`.
struct Value {
  std::string first;
  std::vector<std::pair<std::string, std::string>> parameters;

  const std::string* find(std::string_view name) const {
    const auto found = std::ranges::find(parameters, name, [](const auto& parameter) { return parameter.first; });
    return found == parameters.end() ? nullptr : &found->second;
  }
};

// The quoted text at the front of `rest`, which is left behind its closing quote.
Result<std::string> take_quoted(std::string_view& rest) {
  std::string text;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return text;
    }
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    text.push_back(rest[i]);
  }
  return broken("a quote is not closed in " + quoted(rest));
}

Result<Value> parse_value(std::string_view text) {
  const std::size_t semicolon = text.find(';');
  Value value{lower(trimmed(text.substr(0, semicolon))), {}};
  std::string_view rest = semicolon == std::string_view::npos ? std::string_view() : text.substr(semicolon);
  while (!rest.empty()) {
    const std::size_t equals = rest.find('=');
    if (rest.front() != ';' || equals == std::string_view::npos) {
      return broken("expected ; name=value instead of " + quoted(rest));
    }
    std::string name = lower(trimmed(rest.substr(1, equals - 1)));
    rest.remove_prefix(equals + 1);
    std::string content;
    if (rest.starts_with('"')) {
      Result<std::string> taken = take_quoted(rest);
      if (!taken) return fail(taken.error());
      content = *std::move(taken);
      rest = trimmed(rest);
    } else {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      content = trimmed(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (name.empty() || value.find(name) != nullptr) return broken("a parameter without a name, or twice");
    value.parameters.emplace_back(std::move(name), std::move(content));
  }
  return value;
}

Result<std::string> boundary_of(std::string_view content_type) {
  const Result<Value> value = parse_value(content_type);
  if (!value) return fail(value.error());
  if (value->first != kFormData) {
    return fail(Code::invalid, "the body is " + quoted(content_type) + "; expected " + std::string(kFormData));
  }
  constexpr std::string_view kMarks = "'()+_,-./:=? ";
  const auto is_allowed = [&](char c) { return is_alphanumeric(c) || kMarks.find(c) != std::string_view::npos; };
  const std::string* boundary = value->find("boundary");
  if (boundary == nullptr || boundary->empty() || boundary->size() > kLongestBoundary || boundary->back() == ' ' ||
      !std::ranges::all_of(*boundary, is_allowed)) {
    return broken("its Content-Type names no boundary of 1 to 70 characters");
  }
  return *boundary;
}

Status read_disposition(std::string_view text, Part& part) {
  const Result<Value> value = parse_value(text);
  if (!value) return fail(value.error());
  const std::string* name = value->find("name");
  if (value->first != "form-data" || name == nullptr || name->empty() || !part.name.empty()) {
    return broken("a part needs one Content-Disposition: form-data; name=\"…\"");
  }
  part.name = *name;
  if (const std::string* filename = value->find("filename")) part.filename = *filename;
  return {};
}

Status read_part_header(std::string_view line, Part& part) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || std::ranges::any_of(line, is_control) || !is_valid_utf8(line)) {
    return broken("no header: " + quoted(line));
  }
  const std::string name = lower(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-disposition") return read_disposition(value, part);
  if (name != "content-type" || !part.content_type.empty()) {
    return broken("a part has one Content-Disposition and at most one Content-Type, not " + quoted(line));
  }
  part.content_type = value;
  return {};
}

// One part without the delimiters around it: its headers, an empty line, its bytes.
Result<Part> parse_part(std::string_view text) {
  const std::size_t head_end = text.substr(0, kMostHeadBytes).find(kHeadEnd);
  if (head_end == std::string_view::npos) return broken("the headers of a part have no end, or are too long");
  Part part{};
  std::string_view head = text.substr(0, head_end);
  while (true) {
    const std::size_t line_end = head.find(kLineEnd);
    if (Status status = read_part_header(head.substr(0, line_end), part); !status) return fail(status.error());
    if (line_end == std::string_view::npos) break;
    head.remove_prefix(line_end + kLineEnd.size());
  }
  if (part.name.empty()) return broken("a part has no name");
  part.bytes = text.substr(head_end + kHeadEnd.size());
  return part;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

}  // namespace

Result<std::vector<Part>> parse_multipart(std::string_view content_type, std::string_view body) {
  const Result<std::string> boundary = boundary_of(content_type);
  if (!boundary) return fail(boundary.error());
  const std::string delimiter = "\r\n--" + *boundary;
  // The first delimiter has no line end before it.
  const std::string_view first = std::string_view(delimiter).substr(kLineEnd.size());
  if (!body.starts_with(first)) return broken("it does not start with its boundary");
  body.remove_prefix(first.size());
  std::vector<Part> parts;
  while (body.starts_with(kLineEnd)) {
    body.remove_prefix(kLineEnd.size());
    const std::size_t end = body.find(delimiter);
    if (end == std::string_view::npos) return broken("its last boundary is missing");
    if (parts.size() == kMostParts) return broken("more than " + std::to_string(kMostParts) + " parts");
    Result<Part> part = parse_part(body.substr(0, end));
    if (!part) return fail(part.error());
    if (std::ranges::find(parts, part->name, &Part::name) != parts.end()) {
      return fail(Code::invalid, "the multipart body has two parts " + quoted(part->name), part->name);
    }
    parts.push_back(*std::move(part));
    body.remove_prefix(end + delimiter.size());
  }
  if (body != "--" && body != "--\r\n") return broken("something else than an end behind a boundary");
  return parts;
}

MultipartBody multipart_body(std::span<const Part> parts) {
  // No text holds its own hash.
  std::string boundary;
  for (const Part& part : parts) boundary = hex(sha256({boundary, part.bytes}));
  boundary.insert(0, "kron");
  MultipartBody body{std::string(kFormData) + "; boundary=" + boundary, {}};
  for (const Part& part : parts) {
    body.bytes.append("--").append(boundary).append(kLineEnd);
    body.bytes.append("Content-Disposition: form-data; name=\"").append(escaped(part.name)).append("\"");
    if (!part.filename.empty()) body.bytes.append("; filename=\"").append(escaped(part.filename)).append("\"");
    body.bytes.append(kLineEnd);
    if (!part.content_type.empty()) body.bytes.append("Content-Type: ").append(part.content_type).append(kLineEnd);
    body.bytes.append(kLineEnd).append(part.bytes).append(kLineEnd);
  }
  body.bytes.append("--").append(boundary).append("--\r\n");
  return body;
}

}  // namespace kron::http
