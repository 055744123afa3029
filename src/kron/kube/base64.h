#pragma once

#include <string>
#include <string_view>

#include "kron/base/result.h"

namespace kron::kube {

// RFC 4648, with padding; blanks and line breaks between are passed over, as YAML may have folded the text. Refused
// with code invalid: anything else. The message never shows the text, which may be a key.
Result<std::string> decode_base64(std::string_view text);

std::string encode_base64(std::string_view bytes);

}  // namespace kron::kube
