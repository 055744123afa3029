#include "kron/api/series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/json/writer.h"

namespace kron::api {
namespace {

constexpr std::array<std::string_view, 12> kSeriesNames{"starts",   "succeeded", "failed",  "timedOut",
                                                        "unknown",  "skipped",   "missed",  "noTime",
                                                        "delayP50", "delayP99",  "running", "tasksPending"};
constexpr std::array<char, 12> kSeriesLetters{' ', '+', 'x', 't', '?', 's', 'm', 'n'};

std::int64_t minute_of(Instant at) { return epoch_seconds(std::chrono::floor<std::chrono::minutes>(at)) / 60; }

// The place of a delay, and the most that stands there, in seconds.
std::size_t bucket_of(Nanoseconds delay, std::size_t buckets) {
  const double milliseconds = std::chrono::duration<double, std::milli>(delay).count();
  if (milliseconds <= 1) return 0;
  return std::min(static_cast<std::size_t>(std::ceil(2 * std::log2(milliseconds))), buckets - 1);
}
double bucket_end(std::size_t bucket) { return std::exp2(static_cast<double>(bucket) / 2) / 1000; }

std::uint32_t limited(std::size_t count) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

template <class Count>
void raise(Count& count) {
  if (count != std::numeric_limits<Count>::max()) ++count;
}

// The delay that this share of them does not exceed.
std::optional<double> quantile(const std::vector<std::uint64_t>& delays, double share) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : delays) all += count;
  if (all == 0) return std::nullopt;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < delays.size(); ++i) {
    seen += delays[i];
    if (seen >= wanted) return bucket_end(i);
  }
  return std::nullopt;
}

void write_value(JsonWriter& json, const std::optional<double>& value) {
  if (value) {
    json.real(std::round(*value * 1e6) / 1e6);
  } else {
    json.null();
  }
}

}  // namespace

Result<std::vector<Series::Name>> Series::names_in(std::string_view list) {
  std::vector<Name> names;
  for (std::size_t i = 0; list.empty() && i < kSeriesNames.size(); ++i) names.push_back(static_cast<Name>(i));
  for (bool is_over = list.empty(); !is_over;) {
    const std::size_t end = std::min(list.find(','), list.size());
    const auto known = std::ranges::find(kSeriesNames, list.substr(0, end));
    if (known == kSeriesNames.end()) {
      std::string all;
      for (const std::string_view name : kSeriesNames) all.append(all.empty() ? "" : ", ").append(name);
      return fail(
          Error{Code::invalid,
                "the parameter names: there is no series " + quoted(list.substr(0, end), 100) + "; there are " + all,
                "names"});
    }
    names.push_back(static_cast<Name>(known - kSeriesNames.begin()));
    is_over = end == list.size();
    list.remove_prefix(is_over ? end : end + 1);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Minutes that nobody told of in between have what goes on: what runs, and what waits.
Series::Point* Series::point_at(Instant at) {
  const std::int64_t minute = minute_of(at);
  if (minute < 0 || minute + static_cast<std::int64_t>(kMinutes) <= newest_) return nullptr;
  if (newest_ >= 0 && minute > newest_) {
    const std::int64_t first = std::max(newest_ + 1, minute - static_cast<std::int64_t>(kMinutes) + 1);
    for (std::int64_t next = first; next <= minute; ++next) {
      ring_[static_cast<std::size_t>(next) % kMinutes] = {.minute = next, .running = running_, .pending = pending_};
    }
  }
  newest_ = std::max(newest_, minute);
  Point& point = ring_[static_cast<std::size_t>(minute) % kMinutes];
  if (point.minute != minute) point = {.minute = minute, .running = running_, .pending = pending_};
  return &point;
}

const Series::Point* Series::known_at(std::int64_t minute) const {
  const Point& point = ring_[static_cast<std::size_t>(minute) % kMinutes];
  return point.minute == minute ? &point : nullptr;
}

void Series::started(Instant at, std::optional<Nanoseconds> delay) {
  const std::scoped_lock lock(mutex_);
  Point* const point = point_at(at);
  if (point == nullptr) return;
  raise(point->starts);
  if (delay) raise(point->delays[bucket_of(*delay, kBuckets)]);
}

void Series::ended(Instant at, char letter) {
  const std::scoped_lock lock(mutex_);
  const std::size_t place = history::kLetters.find(letter);
  Point* const point = point_at(at);
  if (point != nullptr && place != std::string_view::npos) raise(point->ends[place]);
}

void Series::set_running(Instant at, std::size_t count) {
  const std::scoped_lock lock(mutex_);
  Point* const point = point_at(at);  // of the minutes since then, what was before is true
  running_ = limited(count);
  if (point != nullptr) point->running = std::max(point->running, running_);
}

void Series::set_pending(Instant at, std::size_t count) {
  const std::scoped_lock lock(mutex_);
  Point* const point = point_at(at);  // of the minutes since then, what was before is true
  pending_ = limited(count);
  if (point != nullptr) point->pending = std::max(point->pending, pending_);
}

void Series::add_earlier(Instant at, std::size_t starts) {
  const std::scoped_lock lock(mutex_);
  const std::int64_t minute = minute_of(at);
  if (at >= begun_ || minute < 0 || minute + static_cast<std::int64_t>(kMinutes) <= newest_) return;
  Point& point = ring_[static_cast<std::size_t>(minute) % kMinutes];
  if (point.minute > minute) return;
  if (point.minute != minute) point = {.minute = minute};
  point.starts += limited(starts);
  newest_ = std::max(newest_, minute);
}

std::optional<double> Series::value(Name name, std::int64_t first, std::int64_t step) const {
  const bool is_delay = name == Name::delay_p50 || name == Name::delay_p99;
  // Of the time before we were there nothing but starts is known.
  if (name != Name::starts && first < minute_of(begun_)) return std::nullopt;
  double sum = 0;
  double most = 0;
  std::vector<std::uint64_t> delays(kBuckets);
  for (std::int64_t minute = first; minute < first + step; ++minute) {
    const Point* const point = known_at(minute);
    // Nothing has been told since: what ran then still does.
    const Point quiet{.running = minute > newest_ ? running_ : 0, .pending = minute > newest_ ? pending_ : 0};
    const Point& of = point != nullptr ? *point : quiet;
    if (is_delay) {
      for (std::size_t i = 0; i < kBuckets; ++i) delays[i] += of.delays[i];
    } else if (name == Name::starts) {
      sum += of.starts;
    } else if (name == Name::running || name == Name::tasks_pending) {
      most = std::max<double>(most, name == Name::running ? of.running : of.pending);
    } else {
      sum += of.ends[history::kLetters.find(kSeriesLetters[static_cast<std::size_t>(name)])];
    }
  }
  if (is_delay) return quantile(delays, name == Name::delay_p50 ? 0.5 : 0.99);
  return name == Name::running || name == Name::tasks_pending ? most : sum;
}

std::string Series::json(const std::vector<Name>& names, Seconds length, Seconds step, Instant now) const {
  const std::int64_t minutes = step.count() / 60;
  const auto points = static_cast<std::size_t>(length / step);
  // Steps begin at multiples of themselves, so that those of one answer are those of the next.
  const std::int64_t last = minute_of(now) / minutes * minutes;
  const std::int64_t first = last - (static_cast<std::int64_t>(points) - 1) * minutes;
  JsonWriter json;
  json.begin_map().member("from", rfc3339(instant_of(first * 60))).key("stepSeconds").integer(step.count());
  json.key("points").integer(static_cast<std::int64_t>(points)).key("series").begin_map();
  const std::scoped_lock lock(mutex_);
  for (const Name name : names) {
    json.key(kSeriesNames[static_cast<std::size_t>(name)]).begin_list();
    for (std::size_t i = 0; i < points; ++i) {
      write_value(json, value(name, first + static_cast<std::int64_t>(i) * minutes, minutes));
    }
    json.end_list();
  }
  return json.end_map().end_map().take();
}

}  // namespace kron::api
