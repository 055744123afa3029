#include <array>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/forecast/evaluation_json.h"
#include "kron/jobs/model.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"
#include "kron/state/record.h"
#include "lines.h"
#include "verbs.h"

namespace kron::cli {
namespace {

constexpr std::array<std::string_view, 4> kQuestionKeys{"job", "state", "active", "now"};

struct Request {
  Job job;
  StateRecord state;
  bool has_active_runs = false;
  Instant now;
};

// The state as in a state file; Version and Identity may be left out, since the request says what job it is about.
Result<StateRecord> read_state(const Node* node, const std::string& identity) {
  Node::Map members;
  const auto* given = node == nullptr || node->is_null() ? nullptr : node->as<Node::Map>();
  if (given != nullptr) {
    members = *given;
  } else if (node != nullptr && !node->is_null()) {
    return fail(Code::invalid, "must be an object, as in a state file", "state");
  }
  const Node whole(members);
  if (whole.find("Version") == nullptr) members.push_back({"Version", {}, Node(std::string(kStateVersion))});
  if (whole.find("Identity") == nullptr) members.push_back({"Identity", {}, Node(identity)});
  Result<StateRecord> state = state::parse(JsonWriter().node(Node(std::move(members))).take());
  if (!state) return fail(Code::invalid, state.error().message, "state." + state.error().field);
  if (state->identity != identity) {
    return fail(Code::invalid,
                "is the state of " + kron::quoted(state->identity) + ", not of the job " + kron::quoted(identity),
                "state.Identity");
  }
  return state;
}

Result<Request> read_request(std::string_view line, ZoneDatabase& zones) {
  const Result<Node> document = parse_json(line);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(kQuestionKeys);
  const std::optional<std::string_view> now_text = fields.text("now");
  if (!errors.empty()) return fail(errors.front());
  if (!fields.has("job")) return fail(Code::invalid, "is missing: a job in the names of the YAML model", "job");
  if (!now_text) return fail(Code::invalid, "is missing: a time such as 2026-03-01T00:00:00Z", "now");
  Request request;
  const Result<Instant> now = parse_rfc3339(*now_text);
  if (!now) return fail(Code::invalid, now.error().message, "now", now.error().column);
  request.now = *now;
  Result<jobs::JobDefinition> definition = jobs::read_requested_definition(*fields.find("job"), zones);
  if (!definition) return fail(definition.error());
  request.job = std::move(definition->job);
  Result<StateRecord> state = read_state(fields.find("state"), request.job.identity);
  if (!state) return fail(state.error());
  request.state = *std::move(state);
  if (const Node* active = fields.find("active")) {
    const auto* runs = active->as<Node::List>();
    if (runs == nullptr) return fail(Code::invalid, "must be a list of active runs", "active");
    request.has_active_runs = !runs->empty();
  }
  request.has_active_runs |= !request.state.active.empty();
  return request;
}

std::string answer(const Evaluation& evaluation) {
  JsonWriter json;
  write_evaluation(json, evaluation);
  return json.take();
}

}  // namespace

int evaluate_lines() {
  ZoneDatabase zones;
  return answer_lines([&](std::string_view line) -> Result<std::string> {
    const Result<Request> request = read_request(line, zones);
    if (!request) return fail(request.error());
    return answer(evaluate(request->job, request->state.periods, request->has_active_runs, Turn::at(request->now)));
  });
}

}  // namespace kron::cli
