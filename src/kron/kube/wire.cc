#include "kron/kube/wire.h"

#include <algorithm>
#include <array>
#include <optional>
#include <simdjson.h>
#include <span>
#include <utility>
#include <vector>

#include "kron/kube/object.h"

namespace kron::kube {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kDeepest = 64;

// Most objects have a handful of keys: these need no memory of their own to be sorted.
constexpr std::size_t kHandful = 16;

Status check_once(std::span<std::string_view> keys) {
  std::ranges::sort(keys);
  if (std::ranges::adjacent_find(keys) == keys.end()) return {};
  return fail(Code::invalid, "the API server sent an object with a key that stands twice");
}

Status check_once(const dom::object& object) {
  std::array<std::string_view, kHandful> few;
  std::vector<std::string_view> many;
  const bool is_few = object.size() <= few.size();
  std::size_t count = 0;
  for (const auto& member : object) {
    if (is_few) {
      few[count++] = member.key;
    } else {
      many.push_back(member.key);
    }
  }
  return check_once(is_few ? std::span(few).first(count) : std::span(many));
}

// Makes a tree of what simdjson has read. Values are made where they stay: a tree has many, and moving one is not free.
class TreeMaker {
 public:
  Node::Value value(const dom::element& element) {
    switch (element.type()) {
      case dom::element_type::ARRAY:
        return list(element.get_array().value_unsafe());
      case dom::element_type::OBJECT:
        return map(element.get_object().value_unsafe(), {});
      case dom::element_type::INT64:
        return element.get_int64().value_unsafe();
      case dom::element_type::UINT64:
        return static_cast<double>(element.get_uint64().value_unsafe());
      case dom::element_type::DOUBLE:
        return element.get_double().value_unsafe();
      case dom::element_type::STRING:
        return Node::Value(std::in_place_type<std::string>, element.get_string().value_unsafe());
      case dom::element_type::BOOL:
        return element.get_bool().value_unsafe();
      case dom::element_type::NULL_VALUE:
        break;
    }
    return {};
  }
  // But for these parts.
  Node::Value value(const dom::element& element, Parts left_out) {
    dom::object object;
    if (left_out.empty() || element.get_object().get(object) != simdjson::SUCCESS) return value(element);
    return map(object, left_out);
  }
  Node::List list(const dom::array& array) {
    Node::List list;
    list.reserve(array.size());
    for (const dom::element& item : array) list.emplace_back(value(item));
    return list;
  }
  // Of all that was made.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  Node::Map map(const dom::object& object, Parts left_out) {
    if (Status once = check_once(object); !once) status_ = std::move(once);
    Node::Map map;
    map.reserve(object.size());
    for (const auto& member : object) {
      if (left_out.empty()) {
        map.emplace_back(std::string(member.key), Position(), Node(value(member.value)));
        continue;
      }
      if (std::ranges::find(left_out, member.key) != left_out.end()) continue;
      map.emplace_back(std::string(member.key), Position(), Node(value(member.value, within(left_out, member.key))));
    }
    return map;
  }
  static std::vector<std::string_view> within(Parts parts, std::string_view key) {
    std::vector<std::string_view> rest;
    for (const std::string_view part : parts) {
      if (part.size() > key.size() && part[key.size()] == '.' && part.starts_with(key)) {
        rest.push_back(part.substr(key.size() + 1));
      }
    }
    return rest;
  }

  Status status_;
};

Result<Node> node_of(const dom::element& element, Parts left_out = {}) {
  TreeMaker maker;
  Node node(maker.value(element, left_out));
  if (!maker.status()) return fail(maker.status().error());
  return node;
}

// Answers and events are small and many: each thread keeps what reads those of up to this size. What reads a page goes
// with it.
constexpr std::size_t kKeptBytes = 64 << 10;

dom::parser& kept_parser() {
  thread_local dom::parser parser;
  return parser;
}

// A document that is not made into objects as a whole: a page is megabytes, and its objects eight times that. One at a
// time on a thread.
class WireDocument {
 public:
  Status read(std::string_view text) {
    const bool is_small = text.size() <= kKeptBytes;
    if (!is_small) parser_ = &own_.emplace();
    if (parser_->capacity() < text.size() || parser_->capacity() == 0) {
      const auto allocated = parser_->allocate(is_small ? kKeptBytes : text.size(), kDeepest);
      if (allocated != simdjson::SUCCESS) return fail(Code::io, "there is no memory to read what the API server sent");
    }
    if (parser_->parse(text.data(), text.size()).get(root_) != simdjson::SUCCESS) {
      return fail(Code::invalid, "the API server sent something that is no JSON");
    }
    dom::object members;
    if (root_.get_object().get(members) != simdjson::SUCCESS) return {};
    return check_once(members);
  }
  [[nodiscard]] const dom::element& root() const { return root_; }
  // None: it is no map, or has no such key.
  [[nodiscard]] std::optional<dom::element> find(std::string_view key) const {
    dom::object members;
    if (root_.get_object().get(members) != simdjson::SUCCESS) return std::nullopt;
    for (const auto& member : members) {
      if (member.key == key) return member.value;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string text(std::string_view key) const {
    const std::optional<dom::element> found = find(key);
    std::string_view text;
    return found && found->get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
  }

 private:
  std::optional<dom::parser> own_;
  dom::parser* parser_ = &kept_parser();
  dom::element root_;
};

// What metadata_of() reads, and nothing else of the object.
Result<ObjectMeta> head_of(const dom::element& object) {
  dom::object metadata;
  if (object["metadata"].get_object().get(metadata) != simdjson::SUCCESS) return metadata_of(Node());
  ObjectMeta meta;
  std::string_view created;
  for (const auto& member : metadata) {
    const auto take_text = [&](auto& to) {
      std::string_view text;
      if (member.value.get_string().get(text) == simdjson::SUCCESS) to = text;
    };
    if (member.key == "namespace") take_text(meta.ns);
    if (member.key == "name") take_text(meta.name);
    if (member.key == "uid") take_text(meta.uid);
    if (member.key == "resourceVersion") take_text(meta.resource_version);
    if (member.key == "creationTimestamp") take_text(created);
    if (member.key == "generation") {
      std::int64_t number = 0;
      if (member.value.get_int64().get(number) == simdjson::SUCCESS) meta.generation = number;
    }
    if (member.key == "deletionTimestamp") meta.deleting = !member.value.is_null();
  }
  return complete(std::move(meta), created);
}

Result<Node> read_but(std::string_view text, const LeftOut& left_out) {
  WireDocument document;
  if (Status read = document.read(text); !read) return fail(read.error());
  const Result<ObjectMeta> meta = head_of(document.root());
  return node_of(document.root(), meta ? left_out(*meta) : Parts());
}

std::optional<WatchEvent::Type> event_type(std::string_view word) {
  using Type = WatchEvent::Type;
  if (word == "ADDED") return Type::added;
  if (word == "MODIFIED") return Type::modified;
  if (word == "DELETED") return Type::deleted;
  if (word == "BOOKMARK") return Type::bookmark;
  return word == "ERROR" ? std::optional(Type::error) : std::nullopt;
}

}  // namespace

Result<Node> read_body(std::string_view text) {
  WireDocument document;
  if (Status read = document.read(text); !read) return fail(read.error());
  return node_of(document.root());
}

Result<ListPage> read_list_page(std::string_view text) {
  WireDocument document;
  if (Status read = document.read(text); !read) return fail(read.error());
  ListPage page;
  if (const auto metadata = document.find("metadata")) {
    const Result<Node> node = node_of(*metadata);
    if (!node) return fail(node.error());
    page.resource_version = text_at(*node, {"resourceVersion"});
    page.next = text_at(*node, {"continue"});
  }
  if (page.resource_version.empty()) return fail(Code::invalid, "the API server sent a list without a version");
  const auto items = document.find("items");
  if (!items || items->is_null()) return page;  // how Go writes an empty list
  dom::array array;
  if (items->get_array().get(array) != simdjson::SUCCESS) {
    return fail(Code::invalid, "the API server sent a list whose items are none");
  }
  TreeMaker maker;
  page.items = maker.list(array);
  if (!maker.status()) return fail(maker.status().error());
  return page;
}

Result<WatchEvent> read_watch_event(std::string_view line, const IsKnown& is_known) {
  WireDocument document;
  if (Status read = document.read(line); !read) return fail(read.error());
  const auto type = event_type(document.text("type"));
  const auto object = document.find("object");
  if (!type || !object || !object->is_object()) {
    return fail(Code::invalid, "the API server sent an event that is none");
  }
  WatchEvent event{.type = *type};
  if (*type <= WatchEvent::Type::deleted) {
    event.meta = head_of(*object);
    event.is_known = event.meta && *type != WatchEvent::Type::deleted && is_known && is_known(*event.meta);
    if (event.is_known) return event;
  }
  Result<Node> node = node_of(*object);
  if (!node) return fail(node.error());
  event.object = *std::move(node);
  return event;
}

Reply reply_of(const Outcome& outcome, const LeftOut& left_out) {
  if (const auto* broken = std::get_if<Broken>(&outcome)) return broken->failure;
  const auto& response = std::get<Response>(outcome);
  Result<Node> body = left_out ? read_but(response.body, left_out) : read_body(response.body);
  if (body) return Answer{response.code, *std::move(body)};
  if (response.code >= 200 && response.code < 300) return Failure::unknown;
  return Answer{response.code, Node()};
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '.' || c == '_' || c == '~';
    if (is_plain) {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.push_back('%');
    encoded.push_back(kDigits[byte >> 4U]);
    encoded.push_back(kDigits[byte & 15U]);
  }
  return encoded;
}

}  // namespace kron::kube
