#pragma once

#include <string_view>

#include "kron/kube/request.h"

namespace kron::kube {

// What a server says instead of an object. `retry_after`, in seconds; 0: it does not say.
Answer status_answer(int code, std::string_view reason, std::string_view message, int retry_after = 0);

}  // namespace kron::kube
