#include <array>
#include <string_view>
#include <sys/timex.h>

#include "doctor.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/time_zone.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/host_zone.h"
#include "kron/jobs/zone_files.h"

namespace kron::cli {
namespace {

// Nobody ran this program before it was written.
constexpr Instant kEarliest{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
constexpr Instant kLatest{std::chrono::sys_days{std::chrono::year{2100} / 1 / 1}};

constexpr std::array<std::string_view, 5> kSomeZones{"UTC", "Europe/Paris", "America/New_York", "Asia/Tokyo",
                                                     "Australia/Lord_Howe"};

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
    findings.push_back({Verdict::warning, "clock", rfc3339(now) + ", and the clock is not synchronised",
                        "run a time service (chrony, systemd-timesyncd): jobs are as punctual as the clock"});
  } else {
    findings.push_back({Verdict::ok, "clock", rfc3339(now) + ", synchronised"});
  }
}

void examine_zones(Findings& findings) {
  const std::string directory = jobs::zone_directory();
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
  const jobs::HostZone host = jobs::host_zone(zones);
  const std::string database = directory + (version.empty() ? "" : ", version " + version);
  if (host.is_known()) {
    findings.push_back(
        {Verdict::ok, "zones", database + "; this host is in " + host.zone.name() + " (" + host.source + ")"});
  } else {
    findings.push_back({Verdict::warning, "zones", database + "; " + host.problem,
                        host.cure + ": crontabs without CRON_TZ are refused until then"});
  }
}

}  // namespace kron::cli
