#include "kron/json/document.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "kron/base/text.h"

namespace kron {
namespace {

// Walks over the text for the parser and lets others see how far it has come.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  bool operator==(const Cursor& other) const { return at_ == other.at_; }
  bool operator!=(const Cursor& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

// Builds the tree from the parser's events. The parser does not say where a token began, but it announces each token
// before it reads on: a token begins after the end of the last one, its separators and blanks.
class Builder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Builder(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits), seen_(text.data()) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    line_start_ = at_;
  }

  Cursor begin() { return {text_.data(), &seen_}; }
  Cursor end() { return {text_.data() + text_.size(), &seen_}; }

  Result<Node> take() {
    if (error_) return fail(*error_);
    return std::move(root_);
  }

  bool null() { return add(Node::Value()); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(number_integer_t value) { return add(static_cast<std::int64_t>(value)); }
  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return refuse_number();
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t& spelling) {
    if (spelling.find_first_of(".eE") == std::string::npos) return refuse_number();
    return add(value);
  }
  bool string(string_t& value) { return add(std::move(value)); }
  bool binary(binary_t&) { return refuse("binary data", position()); }

  bool start_object(std::size_t) { return open(Node::Map()); }
  bool key(string_t& value) {
    const Position place = position();
    end_token();
    std::get<Node::Map>(open_.back().value).push_back({std::move(value), place, Node()});
    return true;
  }
  bool end_object() { return has_no_repeated_key(std::get<Node::Map>(open_.back().value)) && close(); }
  bool start_array(std::size_t) { return open(Node::List()); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t offset, const std::string&, const nlohmann::detail::exception& error) {
    const std::string_view what = error.what();
    if (what.find("out_of_range") != std::string_view::npos) return refuse("a number that is too large", position());
    return refuse(reason_in(what), position_of(std::min(std::max<std::size_t>(offset, 1) - 1, text_.size())));
  }

  // The parser would take a NUL for the end of the text and not look beyond it.
  bool has_no_nul() {
    const std::size_t nul = text_.find('\0');
    return nul == std::string_view::npos || refuse("a NUL character", position_of(nul));
  }

 private:
  struct Open {
    Node::Value value;
    Position position;
  };

  bool add(Node::Value value) {
    const Position place = position();
    end_token();
    attach(Node(std::move(value), place));
    return true;
  }

  bool open(Node::Value empty) {
    const Position place = position();
    if (open_.size() == limits_.depth) {
      return refuse("nested deeper than " + std::to_string(limits_.depth) + " levels", place);
    }
    end_token();
    open_.push_back({std::move(empty), place});
    return true;
  }

  bool close() {
    end_token();
    Open done = std::move(open_.back());
    open_.pop_back();
    attach(Node(std::move(done.value), done.position));
    return true;
  }

  void attach(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (auto* list = std::get_if<Node::List>(&open_.back().value)) {
      list->push_back(std::move(node));
    } else {
      std::get<Node::Map>(open_.back().value).back().value = std::move(node);
    }
  }

  bool has_no_repeated_key(const Node::Map& map) {
    std::vector<const Node::Member*> members;
    members.reserve(map.size());
    for (const Node::Member& member : map) members.push_back(&member);
    std::ranges::stable_sort(members, {}, [](const Node::Member* member) -> std::string_view { return member->key; });
    const auto repeated =
        std::ranges::adjacent_find(members, {}, [](const auto* member) { return std::string_view(member->key); });
    if (repeated == members.end()) return true;
    return refuse("the key " + kron::quoted((*repeated)->key) + " is given twice", (*std::next(repeated))->position);
  }

  bool refuse_number() { return refuse("a whole number beyond 64 bits", position()); }

  bool refuse(std::string problem, Position place) {
    if (place.line > 1) problem += " (line " + std::to_string(place.line) + ")";
    error_ = Error{Code::invalid, "invalid JSON: " + std::move(problem), "", place.column};
    return false;
  }

  // Where the token that was just announced begins.
  Position position() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n,:", at_), text_.size());
    return position_of(at_);
  }

  // Offsets come in ascending order, so lines are counted once over the whole text.
  Position position_of(std::size_t offset) {
    for (; counted_ < offset; ++counted_) {
      if (text_[counted_] != '\n') continue;
      ++line_;
      line_start_ = counted_ + 1;
    }
    return {line_, offset + 1 - std::min(offset, line_start_)};
  }

  // The parser has looked one character beyond a number, to see that it ends there.
  void end_token() {
    const auto seen = static_cast<std::size_t>(seen_ - text_.data());
    const bool number = at_ < text_.size() && (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9'));
    at_ = number ? std::min(text_.find_first_not_of("+-.eE0123456789", at_), text_.size()) : seen;
  }

  // "… parse error at line 1, column 5: syntax error while parsing value - invalid literal; last read: '1x'" → the part
  // that says what is wrong; the input itself is left out, it may be anything.
  static std::string reason_in(std::string_view what) {
    const std::size_t start = what.find(": ");
    if (start != std::string_view::npos) what.remove_prefix(start + 2);
    return std::string(what.substr(0, what.find("; last read")));
  }

  std::string_view text_;
  JsonLimits limits_;
  const char* seen_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  std::vector<Open> open_;
  Node root_;
  std::optional<Error> error_;
};

}  // namespace

const Node* Node::find(std::string_view key) const {
  const Map* map = as<Map>();
  if (map == nullptr) return nullptr;
  const auto found = std::ranges::find(*map, key, &Member::key);
  return found == map->end() ? nullptr : &found->value;
}

std::string_view kind_of(const Node& node) {
  constexpr std::array<std::string_view, 7> kKinds{"null",   "true or false", "a whole number", "a number",
                                                   "a text", "a list",        "a map"};
  return kKinds[node.value().index()];
}

Result<Node> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.size) {
    return fail(Code::invalid, "longer than " + std::to_string(limits.size) + " bytes");
  }
  Builder builder(text, limits);
  if (builder.has_no_nul()) nlohmann::json::sax_parse(builder.begin(), builder.end(), &builder);
  return builder.take();
}

}  // namespace kron
