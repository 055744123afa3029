#include "kron/kube/reflector.h"

#include <algorithm>
#include <utility>

#include "kron/kube/api_error.h"
#include "kron/kube/object.h"

namespace kron::kube {
namespace {

constexpr Seconds kLasted{10};  // a watch that went on for so long was a good one
constexpr std::size_t kMostHeld = std::size_t{8} << 20;

std::string key_of(std::string_view ns, std::string_view name) {
  std::string key(ns);
  key += '/';
  key += name;
  return key;
}

Reflector::Gone gone_of(const std::string& key, std::string uid, std::string version) {
  const std::size_t slash = key.find('/');
  return {
      .ns = key.substr(0, slash), .name = key.substr(slash + 1), .uid = std::move(uid), .version = std::move(version)};
}

}  // namespace

Reflector::Reflector(Transport& transport, const Clock& clock, Options options, Listener listener)
    : transport_(transport), clock_(clock), options_(std::move(options)), listener_(std::move(listener)) {}

Reflector::~Reflector() { stop(); }

bool Reflector::knows(std::string_view ns, std::string_view name) const { return known_.contains(key_of(ns, name)); }

double Reflector::random() const { return options_.jitter ? std::clamp(options_.jitter(), 0.0, 1.0) : 0.0; }

std::string Reflector::selector_query() const {
  return options_.selector.empty() ? std::string() : "&labelSelector=" + percent_encoded(options_.selector);
}

std::optional<Nanoseconds> Reflector::tick() {
  const Nanoseconds now = clock_.monotonic();
  if (state_ == State::watching && now - heard_at_ >= options_.silence) {
    stop();
    fail_with("the watch has been silent for too long");
  }
  if (!held_.empty() && (!listener_.is_busy() || now - held_since_ >= options_.patience)) read_held();
  if (state_ == State::resting && now >= next_at_) {
    version_.empty() ? ask_for_page() : open_watch();
  }
  if (state_ == State::resting) return next_at_;
  if (state_ == State::watching && !held_.empty()) return held_since_ + options_.patience;
  if (state_ == State::watching) return heard_at_ + options_.silence;
  return std::nullopt;  // a page: the transport has a limit
}

void Reflector::relist() {
  stop();
  begin_list_anew();
  rest(Nanoseconds(0));
}

void Reflector::stop() {
  if (under_way_) transport_.cancel(*std::exchange(under_way_, std::nullopt));
  held_.clear();
  state_ = State::resting;
}

void Reflector::rest(Nanoseconds pause) {
  state_ = State::resting;
  next_at_ = clock_.monotonic() + pause;
}

Nanoseconds Reflector::next_pause() {
  pause_ = pause_ == Nanoseconds(0) ? options_.first_pause : std::min(pause_ * 2, options_.longest_pause);
  return pause_ + Nanoseconds(static_cast<std::int64_t>(static_cast<double>(pause_.count()) * random()));
}

void Reflector::fail_with(std::string_view message, std::optional<Seconds> retry_after) {
  ++restarts_;
  if (listener_.on_trouble) listener_.on_trouble(message);
  rest(std::max<Nanoseconds>(next_pause(), std::min(retry_after.value_or(Seconds(0)), Seconds(60))));
}

void Reflector::begin_list_anew() {
  version_.clear();
  ++list_;
  list_version_.clear();
  next_page_.clear();
}

void Reflector::ask_for_page() {
  state_ = State::listing;
  std::string query = "limit=" + std::to_string(options_.page) + selector_query();
  if (!next_page_.empty()) query += "&continue=" + percent_encoded(next_page_);
  under_way_ = transport_.send({.verb = Verb::get, .path = options_.path, .query = std::move(query)}, Lane::list,
                               [this](Outcome outcome) { take_page(std::move(outcome)); });
}

void Reflector::take_page(Outcome outcome) {
  under_way_.reset();
  if (const auto* broken = std::get_if<Broken>(&outcome)) return fail_with(broken->message);  // the same page again
  const auto& response = std::get<Response>(outcome);
  if (response.code != 200) {
    // A page whose list is too old, or a refusal: from the first page. What may pass goes on where it was.
    if (response.code != 429 && response.code < 500) begin_list_anew();
    return fail_with("the API server answered a list with " + std::to_string(response.code), response.retry_after);
  }
  Result<ListPage> page = read_list_page(response.body);
  if (!page) {
    begin_list_anew();
    return fail_with(page.error().message);
  }
  if (list_version_.empty()) list_version_ = page->resource_version;
  for (const Node& object : page->items) {
    const Result<ObjectMeta> meta = metadata_of(object);
    if (!meta) {
      begin_list_anew();
      return fail_with(meta.error().message);
    }
    std::string key = key_of(meta->ns, meta->name);
    Known now{meta->uid, meta->resource_version, list_};
    const auto before = known_.find(key);
    const bool is_same = before != known_.end() && before->second.uid == now.uid;
    // Another of its name: the old one goes first, and with its own version, so that the new one is news.
    if (before != known_.end() && !is_same) listener_.on_gone(gone_of(key, before->second.uid, before->second.version));
    const bool is_news = !is_same || before->second.version != now.version;
    if (is_news && !(listener_.is_known && listener_.is_known(*meta))) listener_.on_object(object);
    known_.insert_or_assign(std::move(key), std::move(now));
  }
  next_page_ = std::move(page->next);
  if (!next_page_.empty()) return ask_for_page();
  finish_list();
}

void Reflector::finish_list() {
  std::erase_if(known_, [this](const auto& item) {
    const auto& [key, known] = item;
    if (known.list == list_) return false;
    listener_.on_gone(gone_of(key, known.uid, list_version_));
    return true;
  });
  version_ = std::exchange(list_version_, {});
  has_listed_ = true;
  if (listener_.on_listed) listener_.on_listed(version_);
  open_watch();
}

void Reflector::open_watch() {
  state_ = State::watching;
  lines_ = LineReader();
  has_heard_ = false;
  watch_began_ = heard_at_ = clock_.monotonic();
  const auto spread = static_cast<double>((options_.watch_most - options_.watch_least).count()) * random();
  const Seconds timeout = options_.watch_least + Seconds(static_cast<std::int64_t>(spread));
  std::string query = "watch=1&allowWatchBookmarks=true&resourceVersion=" + percent_encoded(version_) +
                      "&timeoutSeconds=" + std::to_string(timeout.count()) + selector_query();
  under_way_ = transport_.open(
      {.verb = Verb::get, .path = options_.path, .query = std::move(query)},
      [this](std::string_view bytes) { take_bytes(bytes); },
      [this](const Outcome& outcome) { take_watch_end(outcome); });
}

// In a crowd most of it repeats what our own calls were answered, or are about to be: read later it costs less, and
// nobody who is due waits for it.
void Reflector::take_bytes(std::string_view bytes) {
  heard_at_ = clock_.monotonic();
  if (held_.empty()) held_since_ = heard_at_;
  held_ += bytes;
  const bool may_wait = listener_.is_busy && listener_.is_busy() && held_.size() < kMostHeld &&
                        heard_at_ - held_since_ < options_.patience;
  if (!may_wait) read_held();
}

void Reflector::read_held() {
  const std::string bytes = std::exchange(held_, {});
  const Status fed = lines_.feed(bytes, [this](std::string_view line) {
    if (state_ == State::watching) take_line(line);  // a line before it may have ended the watch
  });
  if (fed || state_ != State::watching) return;
  stop();
  begin_list_anew();
  fail_with(fed.error().message);
}

void Reflector::take_line(std::string_view line) {
  const Result<WatchEvent> event = read_watch_event(line, listener_.is_known);
  if (event && event->type != WatchEvent::Type::error) return take_event(*event);
  const bool was_good = has_heard_ || clock_.monotonic() - watch_began_ >= kLasted;
  stop();
  begin_list_anew();
  if (!event) return fail_with(event.error().message);
  const auto code = integer_at(event->object, {"code"}).value_or(0);
  if (code != 410 || !was_good) return fail_with("the API server ended a watch with code " + std::to_string(code));
  // What we have seen is too old for it: that happens, and needs no pause.
  ++restarts_;
  rest(Nanoseconds(0));
}

void Reflector::take_event(const WatchEvent& event) {
  if (event.type == WatchEvent::Type::bookmark) {
    if (std::string version = text_at(event.object, {"metadata", "resourceVersion"}); !version.empty()) {
      version_ = std::move(version);
    }
    has_heard_ = true;
    pause_ = Nanoseconds(0);
    return;
  }
  const Result<ObjectMeta>& meta = event.meta;
  if (!meta) {
    stop();
    begin_list_anew();
    return fail_with(meta.error().message);
  }
  has_heard_ = true;
  pause_ = Nanoseconds(0);
  version_ = meta->resource_version;
  const std::string key = key_of(meta->ns, meta->name);
  if (event.type != WatchEvent::Type::deleted) {
    known_.insert_or_assign(key, Known{meta->uid, meta->resource_version});
    if (!event.is_known) listener_.on_object(event.object);
    return;
  }
  known_.erase(key);
  Gone gone = gone_of(key, meta->uid, meta->resource_version);
  gone.last = &event.object;
  listener_.on_gone(gone);
}

void Reflector::take_watch_end(const Outcome& outcome) {
  under_way_.reset();
  if (!held_.empty()) read_held();
  if (state_ != State::watching) return;
  const bool was_good = has_heard_ || clock_.monotonic() - watch_began_ >= kLasted;
  if (was_good) pause_ = Nanoseconds(0);
  if (const auto* broken = std::get_if<Broken>(&outcome)) return fail_with(broken->message);
  const auto& response = std::get<Response>(outcome);
  if (response.code == 200) {
    if (!was_good) return fail_with("the API server ended a watch at once");
    ++restarts_;
    return rest(Nanoseconds(0));
  }
  if (response.code != 429 && response.code < 500) begin_list_anew();
  fail_with("the API server answered a watch with " + std::to_string(response.code), response.retry_after);
}

}  // namespace kron::kube
