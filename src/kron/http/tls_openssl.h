#pragma once

#include <string>

#include "kron/base/instant.h"

struct asn1_string_st;

// What the files that use OpenSSL share.
namespace kron::http {

// The first reason that OpenSSL has noted in this thread; what follows it are consequences. Forgets them all.
std::string tls_reason();

Instant tls_time(const asn1_string_st* time);

}  // namespace kron::http
