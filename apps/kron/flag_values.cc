#include "flag_values.h"

#include <chrono>

#include "kron/base/rfc3339.h"

namespace kron::cli {

Instant present() { return std::chrono::floor<Seconds>(std::chrono::system_clock::now()); }

tl::unexpected<Error> about_flag(Error error, std::string_view flag) {
  error.field = flag;
  return fail(std::move(error));
}

Result<Instant> time_flag(std::string_view text, std::string_view flag) {
  if (text.empty()) return present();
  Result<Instant> time = parse_rfc3339(text);
  if (!time) return about_flag(time.error(), flag);
  return time;
}

}  // namespace kron::cli
