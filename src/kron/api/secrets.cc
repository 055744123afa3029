#include "kron/api/secrets.h"

#include <utility>

namespace kron::api {
namespace {

Node names_alone(const Node& environment) {
  const auto* variables = environment.as<Node::Map>();
  if (variables == nullptr) return {};
  Node::Map names = *variables;
  for (Node::Member& variable : names) variable.value = Node();
  return Node(std::move(names));
}

}  // namespace

Node shown_to(Right right, const Node& definition) {
  const auto* members = definition.as<Node::Map>();
  if (right >= Right::admin || members == nullptr) return definition;
  Node::Map shown = *members;
  for (Node::Member& member : shown) {
    if (member.key == "env") member.value = names_alone(member.value);
    if (member.key == "stdin" || member.key == "ping") member.value = Node();
  }
  return Node(std::move(shown));
}

}  // namespace kron::api
