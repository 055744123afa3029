#include "kron/web/event_fan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "kron/base/token_text.h"
#include "kron/http/credentials.h"
#include "kron/json/document.h"

namespace kron::web {
namespace {

constexpr std::string_view kPath = "/api/v1/events";
// Events by which somebody may be let in no longer.
constexpr std::array<std::string_view, 3> kAccessEvents{"token_revoked", "sessions_revoked", "session_ended"};

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view value_of(const http::Fields& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, [](const auto& field) { return std::string_view(field.first); });
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

// As we spelled it: krond has taken it, so it has each parameter once.
std::string_view parameter_of(std::string_view target, std::string_view name) {
  const std::string wanted = std::string(name) + "=";
  for (std::size_t at = target.find('?'); at != std::string_view::npos; at = target.find('&', at)) {
    ++at;
    const std::string_view pair = target.substr(at, std::min(target.find('&', at), target.size()) - at);
    if (pair.starts_with(wanted)) return pair.substr(wanted.size());
  }
  return {};
}

std::optional<std::uint64_t> after_in(const http::Forwarder::Outgoing& request) {
  const std::string_view header = value_of(request.headers, "last-event-id");
  return number_in(header.empty() ? parameter_of(request.target, "after") : header);
}

// The id of the token that is shown, or whose session; empty when that cannot be told.
std::string token_id_in_credentials(const http::Fields& headers) {
  std::string_view shown = value_of(headers, "authorization");
  shown.remove_prefix(std::min(shown.find(' '), shown.size()));
  if (shown.empty()) {
    shown = value_of(headers, "cookie");
    if (shown.find(';') != std::string_view::npos) return {};
    shown.remove_prefix(std::min(shown.find('='), shown.size()));
  }
  if (shown.empty()) return {};
  shown.remove_prefix(1);
  if (const auto id = token_id_in(shown)) return std::string(*id);
  // v1.<session id>.<token id>.…
  for (int i = 0; i < 2; ++i) shown.remove_prefix(std::min(shown.find('.') + 1, shown.size()));
  const std::string_view id = shown.substr(0, shown.find('.'));
  return is_token_id(id) ? std::string(id) : std::string();
}

std::string id_in_event(const EventMirror::Block& block) {
  constexpr std::string_view kData = "\ndata: ";
  const std::size_t at = block.text.find(kData);
  if (at == std::string::npos) return {};
  const Result<Node> document = parse_json(std::string_view(block.text).substr(at + kData.size()));
  const Node* id = document ? document->find("id") : nullptr;
  const auto* text = id == nullptr ? nullptr : id->as<std::string>();
  return text == nullptr ? std::string() : *text;
}

}  // namespace

void EventFan::add(http::Forwarder::Outgoing request, http::Reply reply, std::function<void(int status)> told) {
  auto reader = std::make_shared<Reader>();
  reader->token_id = token_id_in_credentials(request.headers);
  reader->request = std::move(request);
  reader->reply = std::move(reply);
  reader->told = std::move(told);
  forwarder_.post([weak = weak_from_this(), reader] {
    if (const auto self = weak.lock()) self->begin(self->next_++, reader);
  });
}

void EventFan::begin(Number number, const std::shared_ptr<Reader>& reader) {
  readers_.emplace(number, reader);
  reader->reply->on_gone([weak = weak_from_this(), &forwarder = forwarder_, number] {
    forwarder.post([weak, number] {
      if (const auto self = weak.lock()) self->forget(number);
    });
  });
  judge(number);
}

// First he is known here, then krond is asked: whatever ends behind its answer is told to us, and finds him.
void EventFan::judge(Number number) {
  const auto found = readers_.find(number);
  if (found == readers_.end()) return;
  Reader& reader = *found->second;
  if (std::exchange(reader.again, true) || reader.is_asked) return;
  questions_.push_back(number);
  ask_next();
}

void EventFan::ask_next() {
  while (asked_ < kMostQuestions && !questions_.empty()) {
    const Number number = questions_.front();
    questions_.pop_front();
    const auto found = readers_.find(number);
    if (found == readers_.end()) continue;
    Reader& reader = *found->second;
    reader.is_asked = true;
    reader.again = false;
    ++asked_;
    http::Forwarder::Outgoing question{
        .method = "HEAD", .target = reader.request.target, .headers = reader.request.headers};
    forwarder_.follow(std::move(question), {.answered =
                                                [weak = weak_from_this(), number](const http::Response& answer) {
                                                  if (const auto self = weak.lock()) self->judged(number, answer);
                                                },
                                            .begun = [](const http::Response&) {},
                                            .piece = [](std::string_view) {},
                                            .ended = [](bool) {}});
  }
}

void EventFan::judged(Number number, const http::Response& answer) {
  --asked_;
  if (const auto found = readers_.find(number); found != readers_.end()) {
    Reader& reader = *found->second;
    reader.is_asked = false;
    if (reader.told) reader.told(answer.status);
    if (answer.status == 200 && std::exchange(reader.again, false)) {
      judge(number);
    } else if (answer.status == 200) {
      let_in(number, reader, answer);
    } else if (reader.stream) {
      drop(number);
    } else if (answer.status == 401) {
      reader.reply->send(http::unauthorized());
      forget(number);
    } else {
      ask_directly(number);  // who says why
    }
  }
  ask_next();
}

void EventFan::let_in(Number number, Reader& reader, const http::Response& answer) {
  const auto last = number_in(answer.header("last-event-id").value_or(""));
  const std::string role(answer.header("kron-role").value_or(""));
  if (!last || role.empty()) return reader.stream ? drop(number) : ask_directly(number);
  const Kind kind{role, parameter_of(reader.request.target, "fields") == "brief"};
  if (reader.stream && reader.kind != kind) return drop(number);
  reader.judged_at = clock_.monotonic();
  if (reader.stream) return;
  reader.kind = kind;
  reader.judged_behind = *last;
  reader.after = after_in(reader.request);
  if (!sources_.contains(kind)) open(kind);
  start_readers(kind, false);
}

void EventFan::judge_all(const std::function<bool(const Reader&)>& is_meant) {
  std::vector<Number> meant;
  for (const auto& [number, reader] : readers_) {
    if (is_meant(*reader)) meant.push_back(number);
  }
  for (const Number number : meant) judge(number);
}

void EventFan::access_changed(const EventMirror::Block& block) {
  judge_all([id = id_in_event(block)](const Reader& reader) {
    return id.empty() || reader.token_id.empty() || reader.token_id == id;
  });
}

// By the first reader of the kind, whose rights are those of all of them.
void EventFan::open(const Kind& kind) {
  const auto by = std::ranges::find_if(readers_, [&](const auto& one) { return one.second->kind == kind; });
  if (by == readers_.end()) {
    sources_.erase(kind);
    return;
  }
  Source& source = sources_[kind];
  const bool goes_on = source.mirror && source.mirror->is_ready();
  if (!goes_on) source.mirror.reset();
  http::Forwarder::Outgoing request{.method = "GET",
                                    .target = std::string(kPath) + (kind.second ? "?fields=brief" : "")};
  request.headers.emplace_back("Last-Event-ID", goes_on ? std::to_string(source.mirror->last()) : "0");
  for (const auto& field : by->second->request.headers) {
    if (field.first == "authorization" || field.first == "cookie") request.headers.push_back(field);
  }
  source.opened_by = by->first;
  source.has_brought = false;
  // Set before any of these is called: they come by the mailbox of this very thread.
  const auto flight = std::make_shared<Number>(0);
  const auto tell = [weak = weak_from_this(), kind](auto member) {
    return [weak, kind, member](Number number, const auto& what) {
      if (const auto self = weak.lock()) ((*self).*member)(kind, number, what);
    };
  };
  *flight = forwarder_.follow(
      std::move(request),
      {.answered = [flight, call = tell(&EventFan::refused)](const http::Response& answer) { call(*flight, answer); },
       .begun = [flight, call = tell(&EventFan::begun)](const http::Response& head) { call(*flight, head); },
       .piece = [flight, call = tell(&EventFan::received)](std::string_view bytes) { call(*flight, bytes); },
       .ended = [flight, call = tell(&EventFan::ended)](bool is_whole) { call(*flight, is_whole); }});
  source.flight = *flight;
}

// Null: that stream was given up.
EventFan::Source* EventFan::source_of(const Kind& kind, Number flight) {
  const auto found = sources_.find(kind);
  return found == sources_.end() || found->second.flight != flight ? nullptr : &found->second;
}

void EventFan::refused(const Kind& kind, Number flight, const http::Response& answer) {
  Source* source = source_of(kind, flight);
  if (source == nullptr) return;
  source->flight = 0;
  if (answer.status != 401 && answer.status != 403) return lose(kind, false);
  const Number by = source->opened_by;
  const auto reader = readers_.find(by);
  if (reader != readers_.end() && !reader->second->stream) {
    ask_directly(by);
  } else {
    drop(by);
  }
  if (sources_.contains(kind)) open(kind);
}

void EventFan::begun(const Kind& kind, Number flight, const http::Response& head) {
  Source* source = source_of(kind, flight);
  if (source == nullptr) return;
  if (source->mirror) return source->mirror->goes_on();
  source->mirror.emplace(number_in(head.header("last-event-id").value_or("")).value_or(0));
}

void EventFan::received(const Kind& kind, Number flight, std::string_view bytes) {
  Source* source = source_of(kind, flight);
  if (source == nullptr) return;
  bool is_live = source->mirror->is_ready();
  const auto blocks = source->mirror->received(bytes);
  if (!blocks) return lose(kind, false);
  source->has_brought = source->has_brought || !blocks->empty();
  std::string news;
  bool has_beat = false;
  for (const EventMirror::Block& block : *blocks) {
    // What is missing may have ended a token.
    if (is_live && block.kind == EventMirror::Kind::gap) return lose(kind, false);
    if (block.kind == EventMirror::Kind::comment) {
      has_beat = has_beat || is_live;
      is_live = true;
    }
    if (block.kind != EventMirror::Kind::event) continue;
    news += block.text;
    if (std::ranges::find(kAccessEvents, block.name()) != kAccessEvents.end()) access_changed(block);
  }
  if (news.empty() && has_beat) news = ":\n\n";
  deliver(kind, news);
  start_readers(kind, has_beat);
  if (!has_beat) return;
  const Nanoseconds present = clock_.monotonic();
  judge_all([&](const Reader& reader) { return reader.stream && present - reader.judged_at >= kJudgedFor; });
}

void EventFan::deliver(const Kind& kind, const std::string& text) {
  if (text.empty()) return;
  std::vector<Number> gone;
  for (const auto& [number, reader] : readers_) {
    if (reader->stream && reader->kind == kind && !reader->stream->write(text)) gone.push_back(number);
  }
  for (const Number number : gone) forget(number);
}

// Those who wait, as soon as what krond had when it let them in is here.
void EventFan::start_readers(const Kind& kind, bool even_early) {
  const auto found = sources_.find(kind);
  if (found == sources_.end() || !found->second.mirror || !found->second.mirror->is_ready()) return;
  const EventMirror& mirror = *found->second.mirror;
  std::vector<Number> gone;
  for (const auto& [number, reader] : readers_) {
    const bool waits = !reader->stream && reader->kind == kind && !reader->is_asked && !reader->again;
    if (!waits || (mirror.last() < reader->judged_behind && !even_early)) continue;
    const std::uint64_t from = std::min(reader->judged_behind, mirror.last());
    http::Response head{.content_type = "text/event-stream",
                        .headers = {{"Cache-Control", "private, no-store"},
                                    {"X-Accel-Buffering", "no"},
                                    {"Last-Event-ID", std::to_string(from)}}};
    reader->stream = reader->reply->begin(std::move(head));
    reader->reply.reset();
    // Krond's own order: what he has missed, and then the greeting.
    const bool reads =
        reader->stream && reader->stream->write(mirror.text_after(reader->after.value_or(from)) + ": krond\n\n");
    if (!reads) gone.push_back(number);
  }
  for (const Number number : gone) forget(number);
}

void EventFan::ended(const Kind& kind, Number flight, bool is_whole) {
  Source* source = source_of(kind, flight);
  if (source == nullptr) return;
  source->flight = 0;
  // Krond ends; or it has let go of the one reader by whom it was opened, and the others read on.
  if (is_whole || !source->has_brought) return lose(kind, is_whole);
  open(kind);
}

void EventFan::lose(const Kind& kind, bool is_whole) {
  const auto found = sources_.find(kind);
  if (found == sources_.end()) return;
  if (found->second.flight != 0) forwarder_.give_up(found->second.flight);
  sources_.erase(found);
  std::vector<Number> all;
  for (const auto& [number, reader] : readers_) {
    if (reader->kind == kind) all.push_back(number);
  }
  for (const Number number : all) {
    const auto& stream = readers_.at(number)->stream;
    if (!stream) {
      ask_directly(number);
    } else if (is_whole) {
      stream->end();
      forget(number);
    } else {
      drop(number);
    }
  }
}

// As if there were no fan.
void EventFan::ask_directly(Number number) {
  const auto found = readers_.find(number);
  if (found == readers_.end()) return;
  const std::shared_ptr<Reader> reader = found->second;
  forget(number);
  if (reader->reply) forwarder_.forward(std::move(reader->request), *std::move(reader->reply));
}

void EventFan::drop(Number number) {
  const auto found = readers_.find(number);
  if (found == readers_.end()) return;
  if (found->second->stream) found->second->stream->cut();
  forget(number);
}

// The last reader of a kind takes its source along.
void EventFan::forget(Number number) {
  const auto found = readers_.find(number);
  if (found == readers_.end()) return;
  const std::shared_ptr<Reader> reader = found->second;
  readers_.erase(found);
  if (!reader->kind ||
      std::ranges::any_of(readers_, [&](const auto& one) { return one.second->kind == reader->kind; })) {
    return;
  }
  const auto source = sources_.find(*reader->kind);
  if (source == sources_.end()) return;
  if (source->second.flight != 0) forwarder_.give_up(source->second.flight);
  sources_.erase(source);
}

}  // namespace kron::web
