#pragma once

#include "kron/base/text.h"

// What the grammars of HTTP, URIs and MIME count bytes as, in ASCII and whatever the locale.
namespace kron::http {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_alphanumeric(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || is_digit(c); }
inline bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace kron::http
