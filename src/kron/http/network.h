#pragma once

#include <string>
#include <string_view>

namespace kron::http {

// For whom an address counts where clients are counted: itself; of IPv6 its first 64 bits, because who has one such
// address has them all. What is no address is itself.
std::string network_of(std::string_view address);

}  // namespace kron::http
