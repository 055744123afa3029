#pragma once

#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron::cli {

// The present second: the only place where a verb reads the clock.
Instant present();

// The time a flag gives; the present when it is empty.
Result<Instant> time_flag(std::string_view text, std::string_view flag);

// The errors of the parsers speak of their own field; here the flag is what the reader typed.
tl::unexpected<Error> about_flag(Error error, std::string_view flag);

}  // namespace kron::cli
