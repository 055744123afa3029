#include "kron/kube/fake/node_edit.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "kron/json/writer.h"

namespace kron::kube {
namespace {

using Keys = std::span<const std::string_view>;

Node edit(const Node& node, Keys path, const Node* value) {
  if (path.empty()) return *value;
  Node::Map map = node.as<Node::Map>() != nullptr ? *node.as<Node::Map>() : Node::Map();
  const auto found = std::ranges::find(map, path.front(), &Node::Member::key);
  if (value == nullptr && path.size() == 1) {
    if (found != map.end()) map.erase(found);
  } else if (found != map.end()) {
    found->value = edit(found->value, path.subspan(1), value);
  } else if (value != nullptr) {
    map.push_back({std::string(path.front()), {}, edit(Node(Node::Map()), path.subspan(1), value)});
  }
  return Node(std::move(map));
}

}  // namespace

Node with(const Node& map, Path path, Node value) { return edit(map, Keys(path.begin(), path.size()), &value); }

Node with_text(const Node& map, Path path, std::string_view text) { return with(map, path, Node(std::string(text))); }

Node without(const Node& map, Path path) { return edit(map, Keys(path.begin(), path.size()), nullptr); }

bool is_same(const Node* a, const Node* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return JsonWriter().node(*a).take() == JsonWriter().node(*b).take();
}

}  // namespace kron::kube
