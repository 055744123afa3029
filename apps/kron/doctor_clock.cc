#include <array>
#include <cstdlib>
#include <string_view>
#include <sys/timex.h>

#include "doctor.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/time_zone.h"
#include "kron/jobs/disk.h"

namespace kron::cli {
namespace {

// Nobody ran this program before it was written.
constexpr Instant kEarliest{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
constexpr Instant kLatest{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}};

constexpr std::array<std::string_view, 5> kSomeZones{"UTC", "Europe/Paris", "America/New_York", "Asia/Tokyo",
                                                     "Australia/Lord_Howe"};

std::string zone_directory() {
  const char* given = std::getenv("TZDIR");
  return given != nullptr && *given != '\0' ? given : "/usr/share/zoneinfo";
}

// `2026a`, as the database's own files say it; empty when they do not.
std::string zone_version(const std::string& directory) {
  if (const auto text = jobs::contents_of(directory + "/+VERSION")) return std::string(trimmed(*text));
  constexpr std::string_view kMark = "# version ";
  const auto text = jobs::contents_of(directory + "/tzdata.zi");
  if (!text || !text->starts_with(kMark)) return "";
  return std::string(trimmed(text->substr(kMark.size(), text->find('\n') - kMark.size())));
}

}  // namespace

void examine_clock(Instant now, Findings& findings) {
  if (now < kEarliest || now > kLatest) {
    findings.push_back({Verdict::problem, "clock", "the clock says " + rfc3339(now) + ", which can hardly be",
                        "set it, then start krond again: it decides by the wall clock"});
    return;
  }
  timex state{};
  const int answer = ::adjtimex(&state);
  if (answer < 0) {
    findings.push_back(
        {Verdict::warning, "clock", rfc3339(now) + "; the kernel does not say whether it is synchronised"});
  } else if (answer == TIME_ERROR || (state.status & STA_UNSYNC) != 0) {
    findings.push_back({Verdict::warning, "clock", rfc3339(now) + ", and nothing keeps it right",
                        "run a time service (chrony, systemd-timesyncd): jobs are as punctual as the clock"});
  } else {
    findings.push_back({Verdict::ok, "clock", rfc3339(now) + ", synchronised"});
  }
}

void examine_zones(Findings& findings) {
  const std::string directory = zone_directory();
  ZoneDatabase zones;
  bool is_whole = true;
  for (const std::string_view name : kSomeZones) {
    if (const auto zone = zones.find(name); !zone) {
      is_whole = false;
      findings.push_back({Verdict::problem, "zones", "in " + directory + ": " + zone.error().message,
                          "install tzdata, or let TZDIR say where the zones are"});
    }
  }
  if (!is_whole) return;
  const std::string version = zone_version(directory);
  const std::string host = jobs::host_zone(zones).name();
  findings.push_back({Verdict::ok, "zones",
                      directory + (version.empty() ? "" : ", version " + version) + "; this host is in " + host});
}

}  // namespace kron::cli
