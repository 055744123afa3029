#include "kron/kube/fake/status_answer.h"

#include "kron/kube/fake/node_edit.h"

namespace kron::kube {

Answer status_answer(int code, std::string_view reason, std::string_view message, int retry_after) {
  Node body = with_text(Node(Node::Map()), {"kind"}, "Status");
  body = with_text(body, {"apiVersion"}, "v1");
  body = with_text(body, {"status"}, code < 300 ? "Success" : "Failure");
  body = with_text(body, {"reason"}, reason);
  body = with_text(body, {"message"}, message);
  if (retry_after > 0) body = with(body, {"details", "retryAfterSeconds"}, Node(std::int64_t{retry_after}));
  return {code, with(body, {"code"}, Node(std::int64_t{code}))};
}

}  // namespace kron::kube
