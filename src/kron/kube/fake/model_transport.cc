#include "kron/kube/fake/model_transport.h"

#include <algorithm>
#include <utility>

namespace kron::testing {
namespace {

using kube::ApiServer;
using kube::Broken;
using kube::Failure;
using kube::Response;

constexpr Seconds kBookmarkEvery{60};
constexpr std::chrono::hours kNever{24 * 365};

}  // namespace

kube::Transport::Id ModelTransport::send(kube::Request request, kube::Lane lane, OnEnd on_end) {
  return add({.asked = {clock_.monotonic(), std::move(request), lane, false}, .on_end = std::move(on_end)});
}

kube::Transport::Id ModelTransport::open(kube::Request request, OnBytes on_bytes, OnEnd on_end) {
  return add({.asked = {clock_.monotonic(), std::move(request), kube::Lane::call, true},
              .on_bytes = std::move(on_bytes),
              .on_end = std::move(on_end)});
}

kube::Transport::Id ModelTransport::add(Call call) {
  call.fate = is_down ? Fate::not_sent : fate ? fate(call.asked) : Fate::answered;
  call.due = call.asked.at + way;
  asked_.push_back(call.asked);
  under_way_.emplace(++last_, std::move(call));
  return last_;
}

// It may be on its way to the server: only nobody is told of it.
void ModelTransport::cancel(Id id) {
  const auto found = under_way_.find(id);
  if (found == under_way_.end()) return;
  if (found->second.has_arrived) {
    under_way_.erase(found);
  } else {
    found->second.on_end = {};
  }
}

std::optional<Nanoseconds> ModelTransport::due(const Call& call) const {
  if (!call.watch) return call.due;
  if (holds_events) return call.ends_at;
  if (call.line_due) return std::min(*call.line_due, call.ends_at);
  if (server_.has_news(*call.watch)) return std::min(clock_.monotonic() + event_delay, call.ends_at);
  return std::min(call.ends_at, call.bookmark_at);
}

std::optional<Nanoseconds> ModelTransport::next_at() const {
  std::optional<Nanoseconds> first;
  for (const auto& [id, call] : under_way_) {
    const auto at = due(call);
    if (at && (!first || *at < *first)) first = at;
  }
  for (const Floating& one : floating_) {
    if (one.lands_at && (!first || *one.lands_at < *first)) first = one.lands_at;
  }
  return first;
}

bool ModelTransport::land_one() {
  const Nanoseconds now = clock_.monotonic();
  const auto lands = [&](const Floating& one) { return one.lands_at && *one.lands_at <= now; };
  const auto found = std::ranges::find_if(floating_, lands);
  if (found == floating_.end()) return false;
  land(static_cast<std::size_t>(found - floating_.begin()));
  return true;
}

bool ModelTransport::step() {
  if (land_one()) return true;
  const Nanoseconds now = clock_.monotonic();
  auto first = under_way_.end();
  for (auto at = under_way_.begin(); at != under_way_.end(); ++at) {
    // An event's delay counts from when it is noticed.
    if (Call& call = at->second; call.watch && !call.line_due && event_delay > Nanoseconds(0) && !holds_events) {
      if (server_.has_news(*call.watch)) call.line_due = now + event_delay;
    }
    const auto when = due(at->second);
    if (when && *when <= now && (first == under_way_.end() || *when < *due(first->second))) first = at;
  }
  if (first == under_way_.end()) return false;
  Call& call = first->second;
  if (call.outcome) {
    end(first, *std::move(call.outcome));
  } else if (call.watch) {
    tell_line(first);
  } else {
    arrive(call);
    if (!call.on_end) under_way_.erase(first);
  }
  return true;
}

std::size_t ModelTransport::settle() {
  std::size_t steps = 0;
  while (step()) ++steps;
  return steps;
}

Response ModelTransport::carry_out(const kube::Request& request) {
  server_.now = kron::now(clock_);
  return respond ? respond(request) : server_.respond(request);
}

void ModelTransport::arrive(Call& call) {
  const Nanoseconds now = clock_.monotonic();
  call.has_arrived = true;
  call.due = now + way_back;
  switch (call.fate) {
    case Fate::not_sent:
      call.outcome = Broken{Failure::not_sent, "there is no way to the server"};
      return;
    case Fate::floats:
      floating_.push_back({call.asked.request, {}});
      if (lands_after) floating_.back().lands_at = call.asked.at + *lands_after;
      call.due = call.asked.at + patience;
      call.outcome = Broken{Failure::unknown, "no answer came"};
      return;
    case Fate::answer_lost:
      if (!call.asked.is_stream) carry_out(call.asked.request);
      call.due = call.asked.at + patience;
      call.outcome = Broken{Failure::unknown, "no answer came"};
      return;
    case Fate::answered:
      break;
  }
  if (!call.asked.is_stream || !ApiServer::is_watch(call.asked.request)) {
    call.outcome = carry_out(call.asked.request);
    return;
  }
  server_.now = kron::now(clock_);
  auto watch = server_.watch(call.asked.request);
  if (const auto* refusal = std::get_if<kube::Answer>(&watch)) {
    call.outcome = ApiServer::response_of(*refusal);
    return;
  }
  call.watch = std::get<ApiServer::Watch>(std::move(watch));
  call.ends_at = call.watch->timeout ? now + *call.watch->timeout : kNever;
  call.bookmark_at = call.watch->wants_bookmarks ? now + kBookmarkEvery : kNever;
}

void ModelTransport::tell(Id id, std::string_view bytes) {
  const auto found = under_way_.find(id);
  if (found == under_way_.end()) return;
  const OnBytes on_bytes = found->second.on_bytes;  // it may cancel itself
  on_bytes(bytes);
}

void ModelTransport::tell_line(Calls::iterator at) {
  Call& call = at->second;
  const Nanoseconds now = clock_.monotonic();
  if (now >= call.ends_at) return end(at, Response{.code = 200});
  call.line_due.reset();
  std::optional<std::string> line = server_.next_line(*call.watch);
  if (!line) {
    line = ApiServer::bookmark(*call.watch);
    call.bookmark_at = now + kBookmarkEvery;
  }
  if (call.watch->is_over) call.ends_at = now;
  const Id id = at->first;
  switch (line_fate ? line_fate(*line) : LineFate::whole) {
    case LineFate::whole:
      return tell(id, *line);
    case LineFate::twice:
      return tell(id, *line + *line);
    case LineFate::in_bytes:
      for (const char& byte : *line) tell(id, {&byte, 1});
      return;
    case LineFate::cut:
      break;
  }
  tell(id, std::string_view(*line).substr(0, line->size() / 2));
  if (const auto left = under_way_.find(id); left != under_way_.end()) {
    end(left, Broken{Failure::unknown, "the connection broke"});
  }
}

void ModelTransport::end(Calls::iterator at, kube::Outcome outcome) {
  const OnEnd on_end = std::move(at->second.on_end);
  under_way_.erase(at);
  if (on_end) on_end(std::move(outcome));
}

void ModelTransport::cut_watches(bool is_orderly) {
  std::vector<Id> cut;
  for (const auto& [id, call] : under_way_) {
    if (call.watch) cut.push_back(id);
  }
  for (const Id id : cut) {
    const auto found = under_way_.find(id);
    if (found == under_way_.end()) continue;
    // Told at the next step, like everything.
    found->second.watch.reset();
    found->second.due = clock_.monotonic();
    if (is_orderly) {
      found->second.outcome = Response{.code = 200};
    } else {
      found->second.outcome = Broken{Failure::unknown, "the connection broke"};
    }
  }
}

std::size_t ModelTransport::watches() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(under_way_, [](const auto& one) { return one.second.watch.has_value(); }));
}

void ModelTransport::land(std::size_t which) {
  const kube::Request request = floating_[which].request;
  floating_.erase(floating_.begin() + static_cast<std::ptrdiff_t>(which));
  carry_out(request);
}

}  // namespace kron::testing
