#include "kron/daemon/options.h"

#include "kron/base/duration.h"

namespace kron::daemon {

Result<Nanoseconds> parse_offset(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const Result<Nanoseconds> duration = parse_duration(text);
  if (!duration) return fail(duration.error());
  return is_negative ? -*duration : *duration;
}

Status check_offset(Nanoseconds offset, Instant machine_time) {
  const Instant shifted = machine_time + std::chrono::floor<Seconds>(offset);
  if (shifted >= kFirstInstant && shifted <= kLastInstant) return {};
  return fail(Code::unreadable,
              "it takes the clock to a time that is not in the years 1970 to 2199; give a smaller one");
}

}  // namespace kron::daemon
