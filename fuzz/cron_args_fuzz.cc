// cron_args: lines `key=value` become the keys and values; any of them either give a schedule that searches
// consistently, or an error that names a key.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "kron/core/cron_args.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::map<std::string, std::string> args_from(std::string_view text) {
  std::map<std::string, std::string> args;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) args.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return args;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static kron::ZoneDatabase zones;
  const auto args = args_from({reinterpret_cast<const char*>(data), size});
  const kron::Result<kron::CronArgs> parsed = kron::parse_cron_args(args, kron::TimeZone(), zones);
  if (!parsed) {
    require(!parsed.error().message.empty() && !parsed.error().field.empty());
    return 0;
  }
  require(!kron::to_string(parsed->schedule).empty());
  const kron::Instant from = kron::instant_of(1'774'746'000);
  if (const auto next = parsed->schedule.next_after(from, parsed->zone)) {
    require(*next > from);
    require(parsed->schedule.is_nominal(*next, parsed->zone));
    require(parsed->schedule.count_between(from + kron::Seconds(1), *next, parsed->zone) == 1);
  }
  return 0;
}
