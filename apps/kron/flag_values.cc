#include "flag_values.h"

#include <chrono>
#include <unistd.h>

#include "kron/jobs/host_zone.h"
#include "time_argument.h"

namespace kron::cli {

Instant present() { return std::chrono::floor<Seconds>(std::chrono::system_clock::now()); }

Result<TimeZone> local_zone() {
  ZoneDatabase zones;
  const jobs::HostZone found = jobs::host_zone(zones);
  if (found.is_known()) return found.zone;
  return fail(Code::invalid, "the local time zone is not known: " + found.problem + "; " + found.cure);
}

tl::unexpected<Error> about_flag(Error error, std::string_view flag) {
  error.field = flag;
  return fail(std::move(error));
}

Result<Instant> time_flag(std::string_view text, std::string_view flag, Instant now) {
  if (text.empty()) return now;
  Result<Instant> time = parse_time_argument(text, now, local_zone());
  if (!time) return about_flag(time.error(), flag);
  return time;
}

ScreenTimes screen_times(const TimeFlags& flags, Instant now) {
  if (!flags.local && ::isatty(STDOUT_FILENO) != 1) return {};
  if (flags.utc) return {std::nullopt, now};
  const Result<TimeZone> zone = local_zone();
  return {zone ? std::optional(*zone) : std::nullopt, now};
}

}  // namespace kron::cli
