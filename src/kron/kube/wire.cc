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

Result<Node> node_of(const dom::element& element);

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

Result<Node> map_of(const dom::object& object) {
  if (Status once = check_once(object); !once) return fail(once.error());
  Node::Map map;
  map.reserve(object.size());
  for (const auto& member : object) {
    Result<Node> value = node_of(member.value);
    if (!value) return value;
    map.push_back({std::string(member.key), {}, *std::move(value)});
  }
  return Node(std::move(map));
}

Result<Node::List> list_of(const dom::array& array) {
  Node::List list;
  list.reserve(array.size());
  for (const dom::element& item : array) {
    Result<Node> value = node_of(item);
    if (!value) return fail(value.error());
    list.push_back(*std::move(value));
  }
  return list;
}

Result<Node> node_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY: {
      Result<Node::List> list = list_of(element.get_array().value_unsafe());
      return list ? Result<Node>(Node(*std::move(list))) : fail(list.error());
    }
    case dom::element_type::OBJECT:
      return map_of(element.get_object().value_unsafe());
    case dom::element_type::INT64:
      return Node(Node::Value(element.get_int64().value_unsafe()));
    case dom::element_type::UINT64:
      return Node(Node::Value(static_cast<double>(element.get_uint64().value_unsafe())));
    case dom::element_type::DOUBLE:
      return Node(Node::Value(element.get_double().value_unsafe()));
    case dom::element_type::STRING:
      return Node(Node::Value(std::string(element.get_string().value_unsafe())));
    case dom::element_type::BOOL:
      return Node(Node::Value(element.get_bool().value_unsafe()));
    case dom::element_type::NULL_VALUE:
      break;
  }
  return Node();
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
  constexpr std::array<std::string_view, 7> kHead{
      "namespace", "name", "uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp"};
  dom::object metadata;
  if (object["metadata"].get_object().get(metadata) != simdjson::SUCCESS) return metadata_of(Node());
  Node::Map head;
  for (const auto& member : metadata) {
    if (std::ranges::find(kHead, member.key) == kHead.end()) continue;
    Result<Node> value = node_of(member.value);
    if (!value) return fail(value.error());
    head.push_back({std::string(member.key), {}, *std::move(value)});
  }
  return metadata_of(Node(Node::Map{{"metadata", {}, Node(std::move(head))}}));
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
  Result<Node::List> list = list_of(array);
  if (!list) return fail(list.error());
  page.items = *std::move(list);
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

Reply reply_of(const Outcome& outcome) {
  if (const auto* broken = std::get_if<Broken>(&outcome)) return broken->failure;
  const auto& response = std::get<Response>(outcome);
  Result<Node> body = read_body(response.body);
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
