#include "kron/http/target.h"

#include <array>
#include <optional>

#include "kron/base/text.h"
#include "kron/http/characters.h"

namespace kron::http {
namespace {

std::optional<unsigned> hex_digit(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  const char letter = lower(c);
  if (letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a' + 10);
  return std::nullopt;
}

bool is_unreserved(char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

enum class Plus : std::uint8_t { is_a_plus, is_a_space };

// What stands around a mistake is not repeated: a path may hold a token.
Result<std::string> decoded(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::is_a_space) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
      if (!low) {
        return fail(Code::invalid, "the target has a % without two hexadecimal digits, " + quoted(text.substr(i, 3)) +
                                       "; a percent sign itself is %25");
      }
      out.push_back(static_cast<char>(*high * 16 + *low));
      i += 2;
    }
  }
  if (out.find('\0') != std::string::npos) return fail(Code::invalid, "the target has a NUL (%00)");
  if (!is_valid_utf8(out)) return fail(Code::invalid, "the target is not UTF-8 once decoded");
  return out;
}

// Calls `visit` with what stands between the separators, until it fails.
template <class Visit>
Status for_each_piece(std::string_view text, char separator, Visit visit) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (Status status = visit(text.substr(0, end)); !status) return status;
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

Status add_segment(std::string_view piece, std::vector<std::string>& segments) {
  Result<std::string> segment = decoded(piece, Plus::is_a_plus);
  if (!segment) return fail(segment.error());
  if (*segment == "." || *segment == "..") {
    return fail(Code::invalid, "the path has a segment " + quoted(piece) + "; give the path it leads to instead");
  }
  segments.push_back(*std::move(segment));
  return {};
}

Status add_parameter(std::string_view piece, Fields& query) {
  if (piece.empty()) return {};
  const std::size_t equals = piece.find('=');
  Result<std::string> name = decoded(piece.substr(0, equals), Plus::is_a_space);
  if (!name) return fail(name.error());
  Result<std::string> value =
      decoded(equals == std::string_view::npos ? std::string_view() : piece.substr(equals + 1), Plus::is_a_space);
  if (!value) return fail(value.error());
  query.emplace_back(*std::move(name), *std::move(value));
  return {};
}

Status check_characters(std::string_view target) {
  if (!target.starts_with('/')) {
    return fail(Code::invalid, "the target " + quoted(target) + " does not start with '/'; only a path is understood");
  }
  for (const char c : target) {
    if (c <= ' ' || c > '~') return fail(Code::invalid, "the target has a byte that must be written as %XX");
    if (c == '#') return fail(Code::invalid, "the target has a fragment ('#'), which stays with the client");
  }
  return {};
}

}  // namespace

Result<Target> parse_target(std::string_view target) {
  if (Status status = check_characters(target); !status) return fail(status.error());
  Target parsed;
  const std::size_t question = target.find('?');
  const std::string_view path = target.substr(1, question == std::string_view::npos ? question : question - 1);
  if (!path.empty()) {
    const Status status =
        for_each_piece(path, '/', [&](std::string_view piece) { return add_segment(piece, parsed.segments); });
    if (!status) return fail(status.error());
  }
  if (question != std::string_view::npos) {
    const Status status = for_each_piece(target.substr(question + 1), '&',
                                         [&](std::string_view piece) { return add_parameter(piece, parsed.query); });
    if (!status) return fail(status.error());
  }
  return parsed;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::array<char, 16> kDigits{'0', '1', '2', '3', '4', '5', '6', '7',
                                         '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
  }
  return out;
}

}  // namespace kron::http
