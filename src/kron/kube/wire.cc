#include "kron/kube/wire.h"

#include <algorithm>
#include <optional>
#include <simdjson.h>
#include <utility>
#include <vector>

#include "kron/kube/object.h"

namespace kron::kube {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kDeepest = 64;

Result<Node> node_of(const dom::element& element);

Status check_once(std::vector<std::string_view> keys) {
  std::ranges::sort(keys);
  if (std::ranges::adjacent_find(keys) == keys.end()) return {};
  return fail(Code::invalid, "the API server sent an object with a key that stands twice");
}

Result<Node> map_of(const dom::object& object) {
  Node::Map map;
  map.reserve(object.size());
  for (const auto& member : object) {
    Result<Node> value = node_of(member.value);
    if (!value) return value;
    map.push_back({std::string(member.key), {}, *std::move(value)});
  }
  std::vector<std::string_view> keys;
  keys.reserve(map.size());
  for (const Node::Member& member : map) keys.emplace_back(member.key);
  if (Status once = check_once(std::move(keys)); !once) return fail(once.error());
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

// A document that is not made into objects as a whole: a page is megabytes, and its objects eight times that.
class WireDocument {
 public:
  Status read(std::string_view text) {
    const auto allocated = parser_.allocate(std::max<std::size_t>(text.size(), 64), kDeepest);
    if (allocated != simdjson::SUCCESS || parser_.parse(text.data(), text.size()).get(root_) != simdjson::SUCCESS) {
      return fail(Code::invalid, "the API server sent something that is no JSON");
    }
    dom::object members;
    if (root_.get_object().get(members) != simdjson::SUCCESS) return {};
    std::vector<std::string_view> keys;
    for (const auto& member : members) keys.push_back(member.key);
    return check_once(std::move(keys));
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
  dom::parser parser_;
  dom::element root_;
};

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

Result<WatchEvent> read_watch_event(std::string_view line) {
  WireDocument document;
  if (Status read = document.read(line); !read) return fail(read.error());
  const auto type = event_type(document.text("type"));
  const auto object = document.find("object");
  if (!type || !object || !object->is_object()) {
    return fail(Code::invalid, "the API server sent an event that is none");
  }
  Result<Node> node = node_of(*object);
  if (!node) return fail(node.error());
  return WatchEvent{*type, *std::move(node)};
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
