#include "kron/history/up_times.h"

#include <algorithm>
#include <array>

#include "kron/base/rfc3339.h"
#include "kron/json/document.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"

namespace kron::history {
namespace {

constexpr std::array<std::string_view, 4> kEnds{"", "stopped", "slept", "clock set"};

// A clock that is being corrected is not one that is set.
constexpr Seconds kCorrection{5};
// A beat that comes so late was held up by more than a busy machine.
constexpr Seconds kLateBeat = 3 * UpTimes::kBetweenBeats;

UpTime::End end_named(std::string_view name) {
  const auto found = std::ranges::find(kEnds, name);
  return found == kEnds.end() ? UpTime::End::none : static_cast<UpTime::End>(found - kEnds.begin());
}

Result<UpTime> up_time_in(const Node& node) {
  if (node.as<Node::Map>() == nullptr) return fail(Code::invalid, "a map is missing", "up");
  std::vector<Error> errors;
  Fields fields(node, "up", errors);
  UpTime up;
  fields.take(up.from, "from", parse_rfc3339(fields.text("from").value_or("")));
  fields.take(up.to, "to", parse_rfc3339(fields.text("to").value_or("")));
  up.end = end_named(fields.text("end").value_or(""));
  if (!errors.empty()) return fail(errors.front());
  return up;
}

}  // namespace

std::string_view name_of(UpTime::End end) { return kEnds[static_cast<std::size_t>(end)]; }

UpTimes::UpTimes(std::vector<UpTime> all) : all_(std::move(all)) {
  while (all_.size() > kMost) forget_shortest();
}

void UpTimes::add(Instant now) {
  all_.push_back({now, now});
  if (all_.size() > kMost) forget_shortest();
}

// The two with the least time between them become one; where the clock was set back, that is less than none. The last
// one lasts, and is left alone.
void UpTimes::forget_shortest() {
  std::size_t at = 0;
  const auto between = [this](std::size_t i) { return all_[i + 1].from - all_[i].to; };
  for (std::size_t i = 1; i + 2 < all_.size(); ++i) {
    if (between(i) < between(at)) at = i;
  }
  UpTime& kept = all_[at + 1];
  kept.from = std::min(kept.from, all_[at].from);
  kept.to = std::max(kept.to, all_[at].to);
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(at));
}

void UpTimes::begin(Instant now, Nanoseconds boot_time) {
  add(now);
  beat_at_ = boot_time;
}

void UpTimes::beat(Instant now, Nanoseconds boot_time, Seconds busy) {
  if (all_.empty() || !beat_at_) return begin(now, boot_time);
  UpTime& last = all_.back();
  const Seconds passed = std::chrono::floor<Seconds>(boot_time - *beat_at_);
  const Seconds set = now - last.to - passed;
  beat_at_ = boot_time;
  if (set > kCorrection || set < -kCorrection) {
    last.end = UpTime::End::clock_set;
  } else if (passed - busy > kLateBeat) {
    last.end = UpTime::End::slept;
  } else {
    last.to = std::max(last.to, now);
    return;
  }
  add(now);
}

void UpTimes::stop(Instant now) {
  if (all_.empty()) return;
  all_.back().to = std::max(all_.back().from, now);  // a beat may have come after whoever told it to
  all_.back().end = UpTime::End::stopped;
}

std::string up_times_text(const std::vector<UpTime>& all) {
  JsonWriter json;
  json.begin_map().key("version").integer(1).key("up").begin_list();
  for (const UpTime& up : all) {
    json.begin_map().member("from", rfc3339(up.from)).member("to", rfc3339(up.to));
    if (up.end != UpTime::End::none) json.member("end", name_of(up.end));
    json.end_map();
  }
  return json.end_list().end_map().take() + "\n";
}

Result<std::vector<UpTime>> parse_up_times(std::string_view text) {
  const Result<Node> document = parse_json(text);
  if (!document) return fail(document.error());
  const Node* list = document->find("up");
  const auto* items = list == nullptr ? nullptr : list->as<Node::List>();
  if (items == nullptr) return fail(Code::invalid, "a list is missing", "up");
  std::vector<UpTime> all;
  for (const Node& item : *items) {
    const Result<UpTime> up = up_time_in(item);
    if (!up) return fail(up.error());
    all.push_back(*up);
  }
  return all;
}

std::optional<DownTime> down_at(const std::vector<UpTime>& up, Instant t) {
  const UpTime* before = nullptr;
  const UpTime* after = nullptr;
  // Not always in the order of the clock, which may have been set back, and then come to a time twice.
  for (const UpTime& one : up) {
    if (one.from <= t && t <= one.to) return std::nullopt;
    if (one.to < t && (before == nullptr || one.to >= before->to)) before = &one;
    if (one.from > t && (after == nullptr || one.from < after->from)) after = &one;
  }
  if (before == nullptr || after == nullptr || before == &up.back()) return std::nullopt;  // the last one lasts
  return DownTime{before->to, after->from, before->end};
}

bool was_up_at(const std::vector<UpTime>& up, Instant t) {
  return std::ranges::any_of(up, [&](const UpTime& one) {
    const bool lasts = &one == &up.back() && one.end == UpTime::End::none;
    return one.from <= t && (t <= one.to || lasts);
  });
}

}  // namespace kron::history
