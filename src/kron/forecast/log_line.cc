#include "kron/forecast/log_line.h"

#include "kron/base/text.h"
#include "kron/json/writer.h"

namespace kron {
namespace {

struct Texts {
  std::string request, chosen_time, seed_hash;
};

std::string text_in(const Node& document, std::string_view key) {
  const Node* found = document.find(key);
  if (found == nullptr) return {};
  if (const auto* text = found->as<std::string>()) return *text;
  return found->as<Node::Map>() != nullptr ? JsonWriter().node(*found).take() : std::string();
}

std::string unquoted(std::string_view text) {
  std::string value;
  for (std::size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      value += text[i];
      continue;
    }
    const char escaped = text[++i];
    value += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
  }
  return value;
}

// The JSON object at the front of `text`, which may hold blanks.
std::string_view object_at(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        in_text = false;
      }
    } else if (text[i] == '"') {
      in_text = true;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth == 0) {
      return text.substr(0, i + 1);
    }
  }
  return text;
}

std::string value_of(std::string_view line, std::string_view key) {
  const std::string wanted = std::string(key) + "=";
  for (std::size_t at = line.find(wanted); at != std::string_view::npos; at = line.find(wanted, at + 1)) {
    if (at != 0 && line[at - 1] != ' ' && line[at - 1] != '\t') continue;
    const std::string_view rest = line.substr(at + wanted.size());
    if (rest.starts_with('"')) return unquoted(rest);
    if (rest.starts_with('{')) return std::string(object_at(rest));
    return std::string(rest.substr(0, rest.find_first_of(" \t\r\n")));
  }
  return {};
}

Texts texts_in(std::string_view line) {
  if (const Result<Node> document = parse_json(line); document && document->as<Node::Map>() != nullptr) {
    if (document->find("decision") == nullptr && document->find("periodStart") != nullptr) {
      return {std::string(line), {}, {}};
    }
    return {text_in(*document, "decision"), text_in(*document, "chosenTime"), text_in(*document, "seedHash")};
  }
  return {value_of(line, "decision"), value_of(line, "chosenTime"), value_of(line, "seedHash")};
}

}  // namespace

Result<LoggedDecision> read_log_line(std::string_view line, ZoneDatabase& zones) {
  Texts texts = texts_in(trimmed(line));
  if (texts.request.empty()) {
    return fail(Code::invalid,
                "the line has no decision=… field; period_ended lines of krond have one, and run_started lines with "
                "--log-format json or --log-level debug",
                "decision");
  }
  Result<DecideRequest> request = parse_decide_request(texts.request, zones);
  if (!request) {
    const std::string& inner = request.error().field;
    return fail(Code::invalid, request.error().message, inner.empty() ? "decision" : "decision." + inner,
                request.error().column);
  }
  return LoggedDecision{*std::move(request), std::move(texts.chosen_time), std::move(texts.seed_hash)};
}

}  // namespace kron
