#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kron/core/alarm.h"
#include "kron/jobs/destinations.h"

// What comes out of any text has good names and can be shown; what was wrong was said.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kron::jobs::Report report("fuzz", text);
  for (const auto& [name, destination] : kron::jobs::parse_destinations(text, report)) {
    if (!kron::is_destination_name(name) || kron::jobs::summary_of(destination).empty()) std::abort();
    const auto* mail = std::get_if<kron::jobs::Mail>(&destination);
    if (mail != nullptr && (mail->to.empty() || mail->from.find('\n') != mail->from.npos)) std::abort();
  }
  return 0;
}
