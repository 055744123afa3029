#include "kron/kube/wire.h"

#include <algorithm>
#include <simdjson.h>

#include "kron/kube/object.h"

namespace kron::kube {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kDeepest = 64;

Result<Node> node_of(const dom::element& element);

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
  std::ranges::sort(keys);
  if (std::ranges::adjacent_find(keys) != keys.end()) {
    return fail(Code::invalid, "the API server sent an object with a key that stands twice");
  }
  return Node(std::move(map));
}

Result<Node> list_of(const dom::array& array) {
  Node::List list;
  list.reserve(array.size());
  for (const dom::element& item : array) {
    Result<Node> value = node_of(item);
    if (!value) return value;
    list.push_back(*std::move(value));
  }
  return Node(std::move(list));
}

Result<Node> node_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return list_of(element.get_array().value_unsafe());
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
  dom::parser parser;
  const auto allocated = parser.allocate(std::max<std::size_t>(text.size(), 64), kDeepest);
  dom::element root;
  if (allocated != simdjson::SUCCESS || parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) {
    return fail(Code::invalid, "the API server sent something that is no JSON");
  }
  return node_of(root);
}

Result<ListPage> read_list_page(std::string_view text) {
  Result<Node> body = read_body(text);
  if (!body) return fail(body.error());
  ListPage page;
  page.resource_version = text_at(*body, {"metadata", "resourceVersion"});
  page.next = text_at(*body, {"metadata", "continue"});
  if (page.resource_version.empty()) return fail(Code::invalid, "the API server sent a list without a version");
  const Node* items = body->find("items");
  if (items == nullptr || items->is_null()) return page;  // how Go writes an empty list
  const auto* list = items->as<Node::List>();
  if (list == nullptr) return fail(Code::invalid, "the API server sent a list whose items are none");
  page.items = *list;
  return page;
}

Result<WatchEvent> read_watch_event(std::string_view line) {
  Result<Node> body = read_body(line);
  if (!body) return fail(body.error());
  const auto type = event_type(text_at(*body, {"type"}));
  const Node* object = body->find("object");
  if (!type || object == nullptr || object->as<Node::Map>() == nullptr) {
    return fail(Code::invalid, "the API server sent an event that is none");
  }
  return WatchEvent{*type, *object};
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
