#pragma once

#include <string>
#include <string_view>

#include "kron/http/message.h"

namespace kron::http {

// Whether the client takes an answer that is compressed by gzip (RFC 9110, Accept-Encoding).
bool accepts_gzip(const Request& request);

// Takes some 10 ms for a megabyte of JSON. Empty: there is not enough memory.
std::string gzipped(std::string_view text);

}  // namespace kron::http
