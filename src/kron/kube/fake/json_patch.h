#pragma once

#include "kron/base/result.h"
#include "kron/json/document.h"

namespace kron::kube {

// RFC 6902 on members of maps: test, add, replace and remove. All of it or nothing: the error is the first operation
// that does not hold.
Result<Node> apply_json_patch(const Node& document, const Node& patch);

}  // namespace kron::kube
