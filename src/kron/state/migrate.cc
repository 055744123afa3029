#include "kron/state/migrate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kron/base/text.h"

namespace kron::state {
namespace {

Error unknown_version(std::string_view version, std::span<const Migration> older) {
  std::string known = "\"" + std::string(kStateVersion) + "\"";
  for (const Migration& migration : older) known.append(", \"").append(migration.from).append("\"");
  return {Code::refused,
          "state version " + quoted(version) + " is not known to this program (it knows " + known +
              "): run the program that wrote it, or a newer one that can migrate it",
          "Version"};
}

std::string version_of(const Node& document) {
  const Node* version = document.find("Version");
  const auto* text = version != nullptr ? version->as<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

}  // namespace

std::span<const Migration> migrations() { return {}; }

Status check_version(std::string_view version, std::span<const Migration> older) {
  std::string_view reached = version;
  for (const Migration& migration : older) {
    if (migration.from == reached) reached = migration.to;
  }
  if (reached != kStateVersion) return fail(unknown_version(version, older));
  return {};
}

Result<Node> migrate(const Node& document, Migration::Step Migration::*kind, std::span<const Migration> older) {
  const auto* given = document.as<Node::Map>();
  if (given == nullptr) return fail(Code::invalid, "a state file must be a JSON object");
  const std::string written_as = version_of(document);
  if (const Status known = check_version(written_as, older); !known) return fail(known.error());
  Node::Map members = *given;
  std::erase_if(members, [](const Node::Member& member) { return member.key == "Version"; });
  std::string_view version = written_as;
  // The list is in order, so that every step is taken at most once.
  for (const Migration& migration : older) {
    if (migration.from != version) continue;
    version = migration.to;
    const Migration::Step step = migration.*kind;
    if (step == nullptr) continue;
    Result<Node::Map> next = step(std::move(members));
    if (!next) return fail(next.error());
    members = *std::move(next);
  }
  members.insert(members.begin(), {"Version", {}, Node(std::string(kStateVersion))});
  return Node(std::move(members));
}

}  // namespace kron::state
