#include "kron/queue/task_request.h"

#include <array>
#include <vector>

#include "kron/json/fields.h"
#include "kron/queue/opaque_json.h"
#include "kron/queue/task_reader.h"

namespace kron {
namespace {

constexpr std::array<std::string_view, 9> kMembers{"taskId",  "payload",    "priority", "runAt",    "maxAttempts",
                                                   "backoff", "maxBackoff", "timeout",  "uniqueKey"};
constexpr std::array<std::string_view, 2> kPayloadMembers{"type", "data"};
// The payload stands one level deep in a request.
constexpr JsonLimits kRequestLimits{kMostRequestBytes, kMostPayloadDepth + 2};

// Who submits by hand misspells; what is passed over in silence would be missed later.
Status check_members(const Node& request) {
  std::vector<Error> errors;
  Fields fields(request, "", errors);
  fields.reject_unknown(kMembers);
  if (auto payload = fields.map("payload")) payload->reject_unknown(kPayloadMembers);
  if (!errors.empty()) return fail(errors.front());
  return {};
}

}  // namespace

NewTask read_new_task(const Node& node, JsonSource& source, Status& status, int most_attempts) {
  TaskReader in(node, status);
  NewTask spec;
  spec.id = in.text("taskId");
  if (node.find("taskId") != nullptr) {
    if (Status good = check_task_id(spec.id); !good) in.wrong("taskId", good.error().message);
  }
  in.number("priority", spec.priority, -kMostPriority, kMostPriority);
  spec.run_at = in.time("runAt");
  in.number("maxAttempts", spec.retry.max_attempts, 1, most_attempts);
  spec.retry.backoff = in.duration("backoff").value_or(spec.retry.backoff);
  spec.retry.most_backoff = in.duration("maxBackoff").value_or(spec.retry.most_backoff);
  spec.timeout = in.duration("timeout");
  spec.unique_key = in.text("uniqueKey");
  const Node* payload = in.map("payload");
  if (payload == nullptr) {
    in.wrong("payload", "is missing");
    return spec;
  }
  spec.type = TaskReader(*payload, status).required_text("type");
  if (Status good = check_task_type(spec.type); !good) in.wrong("payload", good.error().message);
  if (const Node* data = payload->find("data")) spec.data = without_blanks(source.text_of(*data));
  return spec;
}

Result<NewTask> new_task_in(const Node& node, JsonSource& source) {
  if (node.as<Node::Map>() == nullptr) {
    return fail(Code::invalid, "a task is a JSON object, not " + std::string(kind_of(node)));
  }
  if (Status good = check_members(node); !good) return fail(good.error());
  Status status;
  NewTask task = read_new_task(node, source, status);
  // The document has limits of its own.
  if (depth_of(task.data) > kMostPayloadDepth) {
    TaskReader(node, status).wrong("payload", "is nested deeper than " + std::to_string(kMostPayloadDepth) + " levels");
  }
  if (!status) return fail(status.error());
  if (Status good = check_payload_size(task.data); !good) return fail(good.error());
  task.data_is_parsed = {true};
  return task;
}

Result<NewTask> parse_new_task(std::string_view json) {
  const auto document = parse_json(json, kRequestLimits);
  if (!document) return fail(document.error());
  JsonSource source(json);
  return new_task_in(*document, source);
}

}  // namespace kron
