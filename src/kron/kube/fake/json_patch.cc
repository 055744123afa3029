#include "kron/kube/fake/json_patch.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/kube/fake/node_edit.h"

namespace kron::kube {
namespace {

// "/metadata/annotations/kron.io~1gate" → its keys.
std::vector<std::string> keys_of(std::string_view pointer) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      keys.emplace_back();
    } else if (keys.empty()) {
      return {};
    } else if (pointer[i] == '~' && i + 1 < pointer.size()) {
      keys.back() += pointer[++i] == '1' ? '/' : '~';
    } else {
      keys.back() += pointer[i];
    }
  }
  return keys;
}

using KeyIterator = std::vector<std::string>::const_iterator;

Result<Node> applied(const Node& node, KeyIterator key, KeyIterator end, std::string_view op, const Node* value) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::conflict, std::string(op) + " " + *key + ": " + std::string(why));
  };
  const auto* members = node.as<Node::Map>();
  if (members == nullptr) return refuse("its parent is no map");
  Node::Map map = *members;
  const auto found = std::ranges::find(map, *key, &Node::Member::key);
  if (found == map.end() && !(op == "add" && key + 1 == end)) return refuse("it is not there");
  if (key + 1 != end) {
    Result<Node> inner = applied(found->value, key + 1, end, op, value);
    if (!inner) return inner;
    found->value = *std::move(inner);
  } else if (op == "test") {
    if (value == nullptr || !is_same(&found->value, value)) return refuse("it is something else");
  } else if (op == "remove") {
    map.erase(found);
  } else if (value == nullptr) {
    return refuse("there is no value");
  } else if (found != map.end()) {
    found->value = *value;
  } else {
    map.push_back({*key, {}, *value});
  }
  return Node(std::move(map));
}

}  // namespace

Result<Node> apply_json_patch(const Node& document, const Node& patch) {
  const auto* operations = patch.as<Node::List>();
  if (operations == nullptr) return fail(Code::invalid, "a JSON patch is a list");
  Node result = document;
  for (const Node& operation : *operations) {
    const std::string op = text_at(operation, {"op"});
    const std::vector<std::string> keys = keys_of(text_at(operation, {"path"}));
    if (keys.empty() || (op != "test" && op != "add" && op != "replace" && op != "remove")) {
      return fail(Code::invalid, "no such operation");
    }
    Result<Node> next = applied(result, keys.begin(), keys.end(), op, operation.find("value"));
    if (!next) return next;
    result = *std::move(next);
  }
  return result;
}

}  // namespace kron::kube
