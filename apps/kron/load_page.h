#pragma once

#include <string>
#include <string_view>

namespace kron::cli {

// A page that shows a profile (the document of `kron simulate --format json`) as a chart one can zoom. It is complete
// in itself: nothing is fetched.
std::string load_page(std::string_view profile_json);

}  // namespace kron::cli
