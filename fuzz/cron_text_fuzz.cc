// Cron expressions: any bytes either give a schedule that prints, reads back and searches consistently, or an error
// with a place.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kron/core/schedule.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

const kron::TimeZone& paris() {
  static const kron::TimeZone zone = [] {
    kron::ZoneDatabase zones;
    return zones.find("Europe/Paris").value_or(kron::TimeZone());
  }();
  return zone;
}

void check_search(const kron::Schedule& schedule, kron::Instant from) {
  const auto next = schedule.next_after(from, paris());
  if (!next) return;
  require(*next > from);
  require(schedule.at_or_before(*next, paris()) == next);
  require(schedule.count_between(from + kron::Seconds(1), *next, paris()) == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto rule = kron::parse_dst_rule(text)) require(*kron::parse_dst_rule(kron::to_string(*rule)) == *rule);
  const kron::Result<kron::Schedule> schedule = kron::parse_schedule(text, "fuzz/job");
  if (!schedule) {
    require(schedule.error().column >= 1 && schedule.error().column <= size + 1 && !schedule.error().message.empty());
    return 0;
  }
  const kron::Result<kron::Schedule> again = kron::parse_schedule(kron::to_string(*schedule));
  require(again.has_value() && *again == *schedule);
  check_search(*schedule, kron::instant_of(0));
  check_search(*schedule, kron::instant_of(1'774'746'000 + static_cast<std::int64_t>(size) * 977));
  return 0;
}
