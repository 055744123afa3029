#include "kron/cluster/definition_edit.h"

#include "kron/base/rfc3339.h"
#include "kron/cluster/json_spans.h"
#include "kron/jobs/cronken.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron::cluster {
namespace {

constexpr std::string_view kJobState = "job_state";

std::string spliced(std::string_view text, std::size_t begin, std::size_t end, std::string_view by) {
  std::string result;
  result.reserve(text.size() - (end - begin) + by.size());
  return result.append(text.substr(0, begin)).append(by).append(text.substr(end));
}

std::string member_text(std::string_view key, std::string_view value) {
  return JsonWriter().text(key).take() + ":" + std::string(value);
}

// Behind the last member.
std::string with_member(std::string_view text, const ObjectSpan& object, std::string_view member) {
  if (object.members.empty()) return spliced(text, object.begin + 1, object.begin + 1, member);
  const std::size_t at = object.members.back().value_end;
  return spliced(text, at, at, "," + std::string(member));
}

std::string without_member(std::string_view text, const ObjectSpan& object, const MemberSpan& member) {
  const std::size_t index = static_cast<std::size_t>(&member - object.members.data());
  if (index > 0) return spliced(text, object.members[index - 1].value_end, member.value_end, "");
  if (object.members.size() > 1) return spliced(text, member.key_begin, object.members[1].key_begin, "");
  return spliced(text, member.key_begin, member.value_end, "");
}

// A definition that can be edited, and its job_state.
struct Parsed {
  Node root;
  ObjectSpan object;
  const MemberSpan* state = nullptr;       // of the text; null: absent
  std::optional<ObjectSpan> members = {};  // of job_state; none: absent or null
  const Node* state_node = nullptr;
};

Result<Parsed> parsed(std::string_view definition) {
  Result<Node> root = parse_foreign_json(definition);
  if (!root) return fail(root.error());
  std::optional<ObjectSpan> object = object_at(definition);
  if (!object) return fail(Code::invalid, "the definition must be a map");
  Parsed result{.root = *std::move(root), .object = *std::move(object)};
  result.state = result.object.find(kJobState);
  if (result.state == nullptr) return result;
  result.state_node = result.root.find(kJobState);
  if (result.state_node->is_null()) return result;
  result.members = object_at(definition, result.state->value_begin);
  if (!result.members) return fail(Code::invalid, "expected a map", std::string(kJobState));
  return result;
}

std::string with_state_member(std::string_view definition, const Parsed& at, std::string_view key,
                              std::string_view value) {
  const std::string member = member_text(key, value);
  if (!at.members) {
    const std::string state = "{" + member + "}";
    if (at.state != nullptr) return spliced(definition, at.state->value_begin, at.state->value_end, state);
    return with_member(definition, at.object, member_text(kJobState, state));
  }
  const MemberSpan* own = at.members->find(key);
  if (own != nullptr) return spliced(definition, own->value_begin, own->value_end, value);
  return with_member(definition, *at.members, member);
}

std::string pause_text(const jobs::ClusterPause& pause) {
  JsonWriter json;
  json.begin_map();
  if (pause.since) json.member("since", rfc3339(*pause.since));
  if (!pause.by.empty()) json.member("by", pause.by);
  if (!pause.note.empty()) json.member("note", pause.note);
  return json.end_map().take();
}

// Of a definition that can be edited. Nothing to tell: there is no such member.
Result<std::string> with_pause_told(std::string definition, const jobs::ClusterPause& pause) {
  const Result<Parsed> at = parsed(definition);
  if (!at) return fail(at.error());
  const MemberSpan* own = at->members ? at->members->find(jobs::kPauseMember) : nullptr;
  if (pause == jobs::ClusterPause()) {
    return own == nullptr ? definition : without_member(definition, *at->members, *own);
  }
  const bool is_told = own != nullptr && jobs::cronken_pause(at->root) == pause;
  return is_told ? definition : with_state_member(definition, *at, jobs::kPauseMember, pause_text(pause));
}

}  // namespace

Result<std::string> with_paused(std::string_view definition, const std::optional<jobs::ClusterPause>& pause) {
  const Result<Parsed> at = parsed(definition);
  if (!at) return fail(at.error());
  const std::optional<jobs::ClusterPause> known = jobs::cronken_pause(at->root);
  if (known && pause) {
    if (pause->by.empty() && pause->note.empty()) return std::string(definition);
    return with_pause_told(std::string(definition),
                           {known->since ? known->since : pause->since, pause->by, pause->note});
  }
  const Node* own = at->state_node != nullptr ? at->state_node->find("paused") : nullptr;
  const bool says_so = own != nullptr ? jobs::cronken_boolean(*own) == std::optional(pause.has_value()) : !pause;
  std::string flagged =
      says_so ? std::string(definition) : with_state_member(definition, *at, "paused", pause ? "true" : "false");
  return with_pause_told(std::move(flagged), pause.value_or(jobs::ClusterPause()));
}

Result<std::string> with_validation_errors(std::string_view definition, const std::optional<std::string>& errors) {
  constexpr std::string_view kKey = "validation_errors";
  const Result<Parsed> at = parsed(definition);
  if (!at) return fail(at.error());
  const Node* own = at->state_node != nullptr ? at->state_node->find(kKey) : nullptr;
  if (errors) {
    if (own != nullptr && own->as<std::string>() != nullptr && *own->as<std::string>() == *errors) {
      return std::string(definition);
    }
    return with_state_member(definition, *at, kKey, JsonWriter().text(*errors).take());
  }
  if (own == nullptr || own->is_null()) return std::string(definition);
  return without_member(definition, *at->members, *at->members->find(kKey));
}

Result<std::string> with_signature(std::string_view definition, std::string_view signature) {
  constexpr std::string_view kKey = "kron_sig";
  if (const Result<Node> root = parse_foreign_json(definition); !root) return fail(root.error());
  const std::optional<ObjectSpan> object = object_at(definition);
  if (!object) return fail(Code::invalid, "the definition must be a map");
  const std::string value = JsonWriter().text(signature).take();
  const MemberSpan* own = object->find(kKey);
  if (own != nullptr) return spliced(definition, own->value_begin, own->value_end, value);
  return with_member(definition, *object, member_text(kKey, value));
}

Result<std::optional<std::string>> validation_errors_of(std::string_view definition) {
  const Result<Parsed> at = parsed(definition);
  if (!at) return fail(at.error());
  const Node* own = at->state_node != nullptr ? at->state_node->find("validation_errors") : nullptr;
  const auto* text = own != nullptr ? own->as<std::string>() : nullptr;
  return text != nullptr ? std::optional<std::string>(*text) : std::nullopt;
}

}  // namespace kron::cluster
