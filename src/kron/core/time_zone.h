#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/civil.h"

namespace kron {

// One stretch of time with a constant offset from UTC: [start, end) where end is the next segment's start.
struct ZoneSegment {
  std::int64_t start;   // epoch seconds; the first segment starts at INT64_MIN/2
  std::int64_t end;     // epoch seconds; the last segment ends at INT64_MAX/2
  std::int32_t offset;  // seconds east of UTC
};

// An IANA time zone as a value: a shared, immutable table of its offset changes (to the year 2400). Copying costs a
// reference count; looking up costs a few nanoseconds. Made by ZoneDatabase; a default-made one is UTC.
class TimeZone {
 public:
  TimeZone();

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::span<const ZoneSegment> segments() const;
  [[nodiscard]] std::size_t segment_index(Instant t) const;

  [[nodiscard]] LocalSeconds to_local(Instant t) const;
  [[nodiscard]] CivilTime to_civil(Instant t) const { return civil_of(to_local(t)); }

  // The wall clock → instants question has three answers; the return type says which.
  struct Resolution {
    enum class Kind { unique, skipped, repeated } kind;
    Instant first;   // unique: the instant; repeated: the earlier; skipped: the first instant after the gap
    Instant second;  // repeated: the later; otherwise equal to first
  };
  [[nodiscard]] Resolution resolve(LocalSeconds local) const;

  bool operator==(const TimeZone& other) const { return name() == other.name(); }

 private:
  friend class ZoneDatabase;
  struct Table;
  explicit TimeZone(std::shared_ptr<const Table> table) : table_(std::move(table)) {}
  std::shared_ptr<const Table> table_;
};

// Reads zones by name, each once. The only part of core that touches the world: the zone files (the system's, or those
// below $TZDIR) are read when a name is first asked for, never later. Thread-safe.
class ZoneDatabase {
 public:
  // Unknown names, `..`, a leading `/`, and anything but [A-Za-z0-9+_/-] fail with code invalid.
  Result<TimeZone> find(std::string_view name);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, TimeZone> zones_;
};

}  // namespace kron
