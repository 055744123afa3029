#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kron/http/message.h"

namespace kron::http {

// How a client can tell where the body ends.
enum class BodyEnd : std::uint8_t { by_length, by_chunks, by_close };

// The status line and headers, with the empty line. Control characters in a header's value become spaces, so that
// nothing a handler passes on can make a header of its own.
std::string response_head(const Response& response, BodyEnd body_end, bool closes);

// Whether an answer of that status has a body at all.
bool has_body(int status);

// Bytes as one chunk, none for none; the last one brings the end of the body with it.
std::string chunk_of(std::string_view bytes, bool is_last);

}  // namespace kron::http
