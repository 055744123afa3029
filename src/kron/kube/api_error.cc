#include "kron/kube/api_error.h"

#include "kron/kube/object.h"

namespace kron::kube {

std::optional<ApiError> error_in(const Answer& answer) {
  if (answer.code >= 200 && answer.code < 300) return std::nullopt;
  ApiError error{.code = answer.code, .reason = text_at(answer.body, {"reason"}), .message = {}};
  error.message = text_at(answer.body, {"message"});
  if (error.message.empty()) error.message = "the API server answered " + std::to_string(answer.code);
  if (const auto seconds = integer_at(answer.body, {"details", "retryAfterSeconds"}); seconds && *seconds > 0) {
    error.retry_after = Seconds(*seconds);
  }
  const Node* causes = node_at(answer.body, {"details", "causes"});
  const auto* list = causes != nullptr ? causes->as<Node::List>() : nullptr;
  if (list == nullptr) return error;
  for (const Node& cause : *list) {
    if (text_at(cause, {"reason"}) == "NamespaceTerminating") error.namespace_terminating = true;
  }
  return error;
}

bool is_final(const ApiError& error) { return error.code == 400 || error.code == 413 || error.code == 422; }

}  // namespace kron::kube
