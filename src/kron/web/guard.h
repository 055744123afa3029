#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kron/http/message.h"
#include "kron/web/site.h"

namespace kron::web {

enum class Asked : std::uint8_t { page, api };  // the page and its assets, or anything else

// The answer to a request that another site, or a name that was made to lead here, had a browser send:
// 421 unless Host is a name of the site: this machine, by a name that nobody else can give it, whatever the port
// (ssh -L changes it), or one of its own;
// 403 when Origin is not that very host, or, for all but the page, when Sec-Fetch-Site says another site asks;
// 400 when Authorization is there twice, or is no ASCII.
std::optional<http::Response> refusal_of_origin(const http::Request& head, Asked asked, const Site& site = {});

}  // namespace kron::web
