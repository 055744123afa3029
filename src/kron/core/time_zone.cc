#include "kron/core/time_zone.h"

#include <algorithm>
#include <cctz/civil_time.h>
#include <cctz/time_zone.h>
#include <limits>
#include <vector>

#include "kron/base/text.h"

namespace kron {
namespace {

constexpr std::int64_t kBeginning = std::numeric_limits<std::int64_t>::min() / 2;
constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max() / 2;

// One entry of the index covers 2^24 seconds, 194 days: most zones change at most once in that time.
constexpr int kIndexShift = 24;

// No zone is further than this from UTC (TZif allows 26 hours; the real ones stay within 16).
constexpr std::int64_t kFarthestOffset = 93'600;

using CctzTime = cctz::time_point<cctz::seconds>;

CctzTime cctz_time(std::int64_t seconds) { return CctzTime(cctz::seconds(seconds)); }

std::vector<ZoneSegment> segments_of(const cctz::time_zone& zone) {
  const std::int64_t horizon = days_from_civil(2400, 1, 1) * kSecondsPerDay;
  std::int64_t at = days_from_civil(1800, 1, 1) * kSecondsPerDay;
  std::vector<ZoneSegment> segments{{kBeginning, kEnd, zone.lookup(cctz_time(at)).offset}};
  cctz::time_zone::civil_transition change;
  while (zone.next_transition(cctz_time(at), &change)) {
    ZoneSegment& last = segments.back();
    const std::int64_t next = (change.from - cctz::civil_second(1970, 1, 1)) - last.offset;
    if (next <= at || next >= horizon) break;
    at = next;
    const std::int32_t offset = zone.lookup(cctz_time(at)).offset;
    if (offset == last.offset) continue;
    last.end = at;
    segments.push_back({at, kEnd, offset});
  }
  return segments;
}

bool is_zone_name(std::string_view name) {
  constexpr std::size_t kLongestName = 64;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '_' ||
           c == '/' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '/' && std::ranges::all_of(name, allowed);
}

}  // namespace

struct TimeZone::Table {
  Table(std::string zone_name, std::vector<ZoneSegment> zone_segments)
      : name(std::move(zone_name)), segments(std::move(zone_segments)) {
    const std::int64_t indexed_to = segments.back().start;
    std::uint16_t segment = 0;
    for (std::int64_t at = 0; at <= indexed_to; at += std::int64_t{1} << kIndexShift) {
      while (segments[segment].end <= at) ++segment;
      index.push_back(segment);
    }
  }

  std::string name;
  std::vector<ZoneSegment> segments;
  std::vector<std::uint16_t> index;  // entry n: the segment that holds second n << kIndexShift
};

TimeZone::TimeZone() {
  static const auto kUtc = std::make_shared<const Table>("UTC", std::vector<ZoneSegment>{{kBeginning, kEnd, 0}});
  table_ = kUtc;
}

const std::string& TimeZone::name() const { return table_->name; }

std::span<const ZoneSegment> TimeZone::segments() const { return table_->segments; }

std::size_t TimeZone::segment_index(Instant t) const {
  const std::int64_t at = epoch_seconds(t);
  const std::vector<ZoneSegment>& segments = table_->segments;
  if (at < 0) {
    const auto after = std::ranges::upper_bound(segments, at, {}, &ZoneSegment::start);
    return after == segments.begin() ? 0 : static_cast<std::size_t>(after - segments.begin()) - 1;
  }
  const auto slot = static_cast<std::size_t>(at >> kIndexShift);
  if (slot >= table_->index.size()) return segments.size() - 1;
  std::size_t i = table_->index[slot];
  while (i + 1 < segments.size() && segments[i].end <= at) ++i;
  return i;
}

LocalSeconds TimeZone::to_local(Instant t) const {
  return epoch_seconds(t) + table_->segments[segment_index(t)].offset;
}

TimeZone::Resolution TimeZone::resolve(LocalSeconds local) const {
  const std::vector<ZoneSegment>& segments = table_->segments;
  std::size_t i = segment_index(instant_of(local - kFarthestOffset));
  while (i + 1 < segments.size() && local >= segments[i].end + segments[i].offset) {
    // Past the last reading of this segment and before the first of the next: the clock jumped over it.
    if (local < segments[i].end + segments[i + 1].offset) {
      const Instant after = instant_of(segments[i].end);
      return {Resolution::Kind::skipped, after, after};
    }
    ++i;
  }
  const Instant first = instant_of(local - segments[i].offset);
  if (i + 1 < segments.size() && local >= segments[i + 1].start + segments[i + 1].offset) {
    return {Resolution::Kind::repeated, first, instant_of(local - segments[i + 1].offset)};
  }
  return {Resolution::Kind::unique, first, first};
}

Result<TimeZone> ZoneDatabase::find(std::string_view name) {
  if (!is_zone_name(name)) {
    return fail(Code::invalid,
                quoted(name) +
                    " is not a time zone name; expected one such as Europe/Paris or UTC (letters, digits, "
                    "'+', '_', '-' and '/', at most 64)",
                "timezone", 1);
  }
  const std::lock_guard lock(mutex_);
  std::string key(name);
  if (const auto known = zones_.find(key); known != zones_.end()) return known->second;
  cctz::time_zone loaded;
  if (!cctz::load_time_zone(key, &loaded)) {
    return fail(Code::invalid,
                "unknown time zone " + quoted(name) + "; expected an IANA name such as Europe/Paris or UTC", "timezone",
                1);
  }
  TimeZone zone(std::make_shared<const TimeZone::Table>(key, segments_of(loaded)));
  zones_.emplace(std::move(key), zone);
  return zone;
}

}  // namespace kron
