#include <algorithm>
#include <charconv>
#include <libfyaml.h>
#include <memory>
#include <optional>
#include <unordered_set>

#include "kron/base/text.h"
#include "kron/jobs/model.h"
#include "kron/jobs/yaml.h"

namespace kron::jobs {
namespace {

struct DestroyParser {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
struct DestroyDiag {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};

Position position(const fy_mark* mark) {
  if (mark == nullptr) return {};
  return {static_cast<std::size_t>(mark->line) + 1, static_cast<std::size_t>(mark->column) + 1};
}

// A plain scalar's type. A number that would print differently than it was written stays a text.
Node typed(std::string_view text, Position at) {
  if (text.empty() || text == "~" || text == "null") return Node(std::monostate{}, at);
  if (text == "true" || text == "false") return Node(text == "true", at);
  const Node node(std::string(text), at);
  std::int64_t integer = 0;
  const char* const last = text.data() + text.size();
  if (const auto [end, status] = std::from_chars(text.data(), last, integer); status == std::errc() && end == last) {
    const Node number(integer, at);
    return word_of(number) == text ? number : node;
  }
  const char first = text.front() == '-' && text.size() > 1 ? text[1] : text.front();
  if (first < '0' || first > '9') return node;
  double real = 0;
  if (const auto [end, status] = std::from_chars(text.data(), last, real); status == std::errc() && end == last) {
    const Node number(real, at);
    return word_of(number) == text ? number : node;
  }
  return node;
}

// Turns the parser's events into Nodes. Depth, aliases and repeated keys are watched here, before anything is built.
class Builder {
 public:
  Builder(std::string_view text, Report& report, const YamlLimits& limits);

  std::vector<Node> documents();

 private:
  struct FreeEvent {
    fy_parser* parser;
    void operator()(fy_event* event) const { fy_parser_event_free(parser, event); }
  };
  using Event = std::unique_ptr<fy_event, FreeEvent>;

  Event next() { return Event(fy_parser_parse(parser_.get()), FreeEvent{parser_.get()}); }
  bool refuse(Position at, std::string message, std::string cure) {
    report_.error(at, "", std::move(message), std::move(cure));
    return false;
  }
  void report_syntax();
  // All of these: false when the text was refused and nothing more may be read.
  bool value(const fy_event& event, int depth, Node& out);
  bool list(int depth, Position at, Node& out);
  bool map(int depth, Position at, Node& out);
  bool key(const fy_event& event, std::unordered_set<std::string>& seen, Node::Member& out);

  Report& report_;
  YamlLimits limits_;
  std::unique_ptr<fy_diag, DestroyDiag> diag_;
  std::unique_ptr<fy_parser, DestroyParser> parser_;
};

std::string_view text_in(fy_token* token) {
  std::size_t size = 0;
  const char* const text = token != nullptr ? fy_token_get_text(token, &size) : nullptr;
  return text != nullptr ? std::string_view(text, size) : std::string_view();
}

Builder::Builder(std::string_view text, Report& report, const YamlLimits& limits) : report_(report), limits_(limits) {
  fy_diag_cfg diag_settings;
  fy_diag_cfg_default(&diag_settings);
  diag_settings.fp = nullptr;
  diag_.reset(fy_diag_create(&diag_settings));
  fy_diag_set_collect_errors(diag_.get(), true);
  fy_parse_cfg settings{};
  settings.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE |
                                                   FYPCF_SLOPPY_FLOW_INDENTATION | FYPCF_DEFAULT_VERSION_1_2);
  settings.diag = diag_.get();
  parser_.reset(fy_parser_create(&settings));
  if (parser_) fy_parser_set_string(parser_.get(), text.data(), text.size());
}

void Builder::report_syntax() {
  void* iterator = nullptr;
  const fy_diag_error* const first = fy_diag_errors_iterate(diag_.get(), &iterator);
  if (first == nullptr) return report_.error({}, "", "this is not valid YAML");
  // The library counts these lines from 1 and columns from 0 in some errors and 1 in others; a caret that is off by
  // one is still at the culprit.
  const Position at{static_cast<std::size_t>(std::max(first->line, 1)),
                    static_cast<std::size_t>(std::max(first->column, 1))};
  report_.error(
      at, "", "YAML: " + std::string(first->msg != nullptr ? first->msg : "syntax error"),
      "check the indentation, and quote texts that contain `: ` or ` #`, or that begin with one of @ * & % `");
}

std::vector<Node> Builder::documents() {
  std::vector<Node> documents;
  if (!parser_) {
    report_.error({}, "", "the YAML parser could not be started");
    return documents;
  }
  while (const Event event = next()) {
    if (event->type != FYET_DOCUMENT_START) continue;
    const Event root = next();
    if (!root) break;
    Node document;
    if (!value(*root, 1, document)) {
      if (fy_parser_get_stream_error(parser_.get())) report_syntax();
      return documents;
    }
    documents.push_back(std::move(document));
  }
  if (fy_parser_get_stream_error(parser_.get())) report_syntax();
  return documents;
}

bool Builder::value(const fy_event& event, int depth, Node& out) {
  const Position at = position(fy_event_start_mark(const_cast<fy_event*>(&event)));
  if (depth > limits_.depth) {
    return refuse(at, "nested deeper than " + std::to_string(limits_.depth) + " levels", "job files need four");
  }
  switch (event.type) {
    case FYET_SCALAR: {
      const std::string_view text = text_in(event.scalar.value);
      const bool plain = event.scalar.value == nullptr || fy_token_scalar_style(event.scalar.value) == FYSS_PLAIN;
      out = plain && event.scalar.tag == nullptr ? typed(text, at) : Node(std::string(text), at);
      return true;
    }
    case FYET_SEQUENCE_START:
      return list(depth, at, out);
    case FYET_MAPPING_START:
      return map(depth, at, out);
    case FYET_ALIAS:
      return refuse(at, "aliases (*name) are not read in job files", "use defaults: for what jobs have in common");
    default:
      return refuse(at, "a value was expected here", "");
  }
}

bool Builder::list(int depth, Position at, Node& out) {
  Node::List items;
  while (const Event event = next()) {
    if (event->type == FYET_SEQUENCE_END) {
      out = Node(std::move(items), at);
      return true;
    }
    if (!value(*event, depth + 1, items.emplace_back())) return false;
  }
  return false;
}

bool Builder::key(const fy_event& event, std::unordered_set<std::string>& seen, Node::Member& out) {
  out.position = position(fy_event_start_mark(const_cast<fy_event*>(&event)));
  if (event.type == FYET_ALIAS) {
    return refuse(out.position, "aliases (*name) are not read in job files",
                  "use defaults: for what jobs have in common");
  }
  if (event.type != FYET_SCALAR) return refuse(out.position, "a key must be a single word", "");
  out.key = std::string(text_in(event.scalar.value));
  if (seen.insert(out.key).second) return true;
  return refuse(out.position, "the key " + quoted(out.key) + " is given twice", "keep one of them");
}

bool Builder::map(int depth, Position at, Node& out) {
  Node::Map entries;
  std::unordered_set<std::string> seen;
  while (const Event event = next()) {
    if (event->type == FYET_MAPPING_END) {
      out = Node(std::move(entries), at);
      return true;
    }
    Node::Member& entry = entries.emplace_back();
    if (!key(*event, seen, entry)) return false;
    const Event content = next();
    if (!content || !value(*content, depth + 1, entry.value)) return false;
  }
  return false;
}

}  // namespace

std::vector<Node> parse_yaml(std::string_view text, Report& report, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    report.error({}, "", "the file is larger than " + std::to_string(limits.bytes >> 20) + " MiB",
                 "split it, or write .kron lines");
    return {};
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    report.error(report.position_of(nul), "", "a NUL byte", "job files are text in UTF-8");
    return {};
  }
  if (!is_valid_utf8(text)) {
    report.error({}, "", "the file is not valid UTF-8", "convert it, for example with iconv -t UTF-8");
    return {};
  }
  return Builder(text, report, limits).documents();
}

}  // namespace kron::jobs
