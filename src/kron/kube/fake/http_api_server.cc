#include "kron/kube/fake/http_api_server.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "kron/base/text.h"
#include "kron/kube/fake/status_answer.h"

namespace kron::testing {
namespace {

using kube::Answer;
using kube::ApiServer;
using kube::Request;
using kube::Response;
using kube::status_answer;
using kube::Verb;

constexpr std::chrono::milliseconds kTick{20};
constexpr std::size_t kLinesAtATime = 200;

WallTime wall_now() { return std::chrono::time_point_cast<Nanoseconds>(std::chrono::system_clock::now()); }

std::string date_header(WallTime time) {
  const std::time_t seconds = std::chrono::floor<Seconds>(time).time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40] = "";
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return "Date: " + std::string(text) + "\r\n";
}

std::string header_of(const std::string& head, std::string_view name) {
  const std::size_t at = lower(head).find("\r\n" + std::string(name) + ":");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 3;
  return std::string(trimmed(std::string_view(head).substr(begin, head.find("\r\n", begin) - begin)));
}

std::optional<Verb> verb_in(std::string_view method) {
  if (method == "GET") return Verb::get;
  if (method == "POST") return Verb::create;
  if (method == "PUT") return Verb::update;
  if (method == "PATCH") return Verb::patch;
  return method == "DELETE" ? std::optional(Verb::remove) : std::nullopt;
}

std::optional<Request> request_in(const std::string& head, const std::string& body) {
  const std::size_t space = head.find(' ');
  const std::size_t end = head.find(' ', space + 1);
  if (end == std::string::npos) return std::nullopt;
  const auto verb = verb_in(std::string_view(head).substr(0, space));
  if (!verb) return std::nullopt;
  Request request{.verb = *verb, .path = head.substr(space + 1, end - space - 1), .body = body};
  if (const std::size_t mark = request.path.find('?'); mark != std::string::npos) {
    request.query = request.path.substr(mark + 1);
    request.path.resize(mark);
  }
  return request;
}

std::string chunk_of(std::string_view bytes) {
  char size[24];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + std::string(bytes) + "\r\n";
}

bool answer_with(HttpPeer::Talk& talk, const Response& response) {
  std::string headers = "Content-Type: application/json\r\n" + date_header(wall_now());
  if (response.retry_after) headers += "Retry-After: " + std::to_string(response.retry_after->count()) + "\r\n";
  return talk.answer(response.code, response.body, headers);
}

bool fits(const std::string& wanted, const std::string& found) { return wanted.empty() || wanted == found; }

bool is_of_lines(HttpApiServer::Fault::Kind kind) { return kind >= HttpApiServer::Fault::Kind::bytes; }

}  // namespace

HttpApiServer::Held::Held(HttpApiServer& server) : server_(server), lock_(server.mutex_) {
  server_.server_.now = std::chrono::floor<Seconds>(wall_now());
}

HttpApiServer::Held::~Held() {
  server_.notice_starts();
  server_.changed_.notify_all();
}

HttpApiServer::HttpApiServer(Options options) : options_(std::move(options)), port_(options_.port) {
  up();
  clockwork_ = std::thread([this] { keep_time(); });
}

HttpApiServer::~HttpApiServer() {
  down();
  {
    const Held held(*this);
    is_stopping_ = true;
  }
  clockwork_.join();
}

std::string HttpApiServer::url() const {
  return (options_.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
}

void HttpApiServer::down() {
  cut_watches();
  peer_.reset();
}

void HttpApiServer::up() {
  std::optional<HttpPeer::Tls> tls = with_options([](const Options& options) { return options.tls; });
  peer_ = std::make_unique<HttpPeer>(
      [this](HttpPeer::Talk& talk, const std::string& head, const std::string& body) { serve(talk, head, body); },
      std::move(tls), port_);
  port_ = peer_->port();
}

void HttpApiServer::cut_watches() {
  const Held held(*this);
  ++cuts_;
}

std::vector<HttpApiServer::Start> HttpApiServer::started() const {
  const std::scoped_lock lock(mutex_);
  return started_;
}

HttpApiServer::Calls HttpApiServer::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

void HttpApiServer::forget_calls() {
  const std::scoped_lock lock(mutex_);
  calls_.clear();
}

int HttpApiServer::watches() const {
  const std::scoped_lock lock(mutex_);
  return watches_;
}

void HttpApiServer::notice_starts() {
  const WallTime now = wall_now();
  while (started_.size() < server_.started().size()) started_.push_back({server_.started()[started_.size()], now});
}

void HttpApiServer::note(const Call& call, int code) {
  ++calls_[{call.user, call.name.verb, call.name.resource, code}];
}

std::optional<std::string> HttpApiServer::user_of(const HttpPeer::Talk& talk, const std::string& head) {
  const std::string shown = header_of(head, "authorization");
  const std::scoped_lock lock(mutex_);
  if (shown.starts_with("Bearer ")) {
    const auto found = options_.tokens.find(shown.substr(7));
    return found != options_.tokens.end() ? std::optional(found->second) : std::nullopt;
  }
  if (std::string name = talk.client_name(); !name.empty()) return name;
  return options_.is_open ? std::optional<std::string>("anonymous") : std::nullopt;
}

bool HttpApiServer::may(const Call& call) {
  const std::scoped_lock lock(mutex_);
  const auto role = options_.roles.find(call.user);
  if (role == options_.roles.end()) return true;
  const auto has = [](const std::set<std::string>& words, const std::string& word) {
    return words.contains("*") || words.contains(word);
  };
  return std::ranges::any_of(role->second, [&](const Rule& rule) {
    return has(rule.verbs, call.name.verb) && has(rule.resources, call.name.resource);
  });
}

std::optional<HttpApiServer::Fault> HttpApiServer::fault_for(const Call& call, bool is_line) {
  const std::scoped_lock lock(mutex_);
  for (Fault& fault : options_.faults) {
    const bool applies = is_of_lines(fault.kind) == is_line && fault.times != 0 && fits(fault.user, call.user) &&
                         fits(fault.verb, call.name.verb) && fits(fault.resource, call.name.resource);
    if (!applies) continue;
    if (fault.times > 0) --fault.times;
    return fault;
  }
  return std::nullopt;
}

void HttpApiServer::serve(HttpPeer::Talk& talk, const std::string& head, const std::string& body) {
  std::optional<Request> request = request_in(head, body);
  if (!request) {
    talk.answer(400, "bad request\n", "Content-Type: text/plain\r\n");
    return talk.close();
  }
  const auto name = ApiServer::name_of(*request);
  if (!name) {
    talk.answer(404, "404 page not found\n", "Content-Type: text/plain\r\n");
    return;
  }
  Call call{*std::move(request), "", *name};
  const std::optional<std::string> user = user_of(talk, head);
  std::optional<Answer> refusal;
  if (!user) {
    refusal = status_answer(401, "Unauthorized", "Unauthorized");
  } else {
    call.user = *user;
    if (!may(call)) {
      refusal = status_answer(403, "Forbidden",
                              name->resource + " is forbidden: User \"" + call.user + "\" cannot " + name->verb +
                                  " resource \"" + name->resource + "\"");
    } else if (call.request.verb == Verb::patch && header_of(head, "content-type") != "application/json-patch+json") {
      refusal = status_answer(415, "UnsupportedMediaType", "only JSON patches are modelled");
    }
  }
  if (refusal) {
    {
      const std::scoped_lock lock(mutex_);
      note(call, refusal->code);
    }
    answer_with(talk, ApiServer::response_of(*refusal));
    return;
  }
  ApiServer::is_watch(call.request) ? serve_watch(talk, call) : serve_call(talk, call);
}

// Those who watch are woken by what is news to them alone: most calls are none.
Response HttpApiServer::carry_out(const Call& call) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t before = server_.version();
  server_.now = std::chrono::floor<Seconds>(wall_now());
  Response response = server_.respond(call.request);
  note(call, response.code);
  notice_starts();
  if (server_.version() != before) changed_.notify_all();
  return response;
}

void HttpApiServer::serve_call(HttpPeer::Talk& talk, const Call& call) {
  const std::optional<Fault> fault = fault_for(call, false);
  if (!fault) {
    answer_with(talk, carry_out(call));
    return;
  }
  switch (fault->kind) {
    case Fault::Kind::floats: {
      const std::scoped_lock lock(mutex_);
      floating_.emplace_back(wall_now() + fault->delay, call);
      return talk.reset();
    }
    case Fault::Kind::lose_answer:
      carry_out(call);
      return talk.reset();
    case Fault::Kind::slow: {
      const Response response = carry_out(call);
      std::unique_lock lock(mutex_);
      const std::uint64_t cuts = cuts_;
      changed_.wait_for(lock, fault->delay, [&] { return cuts != cuts_; });
      lock.unlock();
      answer_with(talk, response);
      return;
    }
    default:
      return talk.reset();
  }
}

void HttpApiServer::serve_watch(HttpPeer::Talk& talk, const Call& call) {
  std::unique_lock lock(mutex_);
  server_.now = std::chrono::floor<Seconds>(wall_now());
  auto got = server_.watch(call.request);
  note(call, std::holds_alternative<Answer>(got) ? std::get<Answer>(got).code : 200);
  if (const auto* refusal = std::get_if<Answer>(&got)) {
    lock.unlock();
    answer_with(talk, ApiServer::response_of(*refusal));
    return;
  }
  auto watch = std::get<ApiServer::Watch>(std::move(got));
  const std::uint64_t cuts = cuts_;
  ++watches_;
  lock.unlock();
  bool goes_on = talk.say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  lock.lock();
  const auto ends = std::chrono::steady_clock::now() + watch.timeout.value_or(std::chrono::hours(24));
  auto bookmark_at = std::chrono::steady_clock::now() + options_.bookmark_every;
  while (goes_on && cuts == cuts_ && !watch.is_over && std::chrono::steady_clock::now() < ends) {
    std::vector<std::string> lines;
    while (lines.size() < kLinesAtATime) {
      std::optional<std::string> line = server_.next_line(watch);
      if (!line) break;
      lines.push_back(*std::move(line));
    }
    if (lines.empty() && watch.wants_bookmarks && std::chrono::steady_clock::now() >= bookmark_at) {
      lines.push_back(ApiServer::bookmark(watch));
      bookmark_at = std::chrono::steady_clock::now() + options_.bookmark_every;
    }
    if (lines.empty()) {
      changed_.wait_until(lock, std::min(ends, bookmark_at));
      continue;
    }
    lock.unlock();
    goes_on = say_lines(talk, call, lines);
    lock.lock();
  }
  --watches_;
  const bool is_cut = cuts != cuts_;
  lock.unlock();
  if (is_cut || !goes_on) return talk.reset();
  talk.say("0\r\n\r\n");
}

bool HttpApiServer::say_lines(HttpPeer::Talk& talk, const Call& call, const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) {
    const std::optional<Fault> fault = fault_for(call, true);
    if (!fault) {
      all += line;
      continue;
    }
    if (!all.empty() && !talk.say(chunk_of(std::exchange(all, {})))) return false;
    switch (fault->kind) {
      case Fault::Kind::twice:
        all += line + line;
        break;
      case Fault::Kind::bytes:
        for (const char& byte : line) {
          if (!talk.say(chunk_of({&byte, 1}))) return false;
        }
        break;
      case Fault::Kind::cut:
        talk.say(chunk_of(std::string_view(line).substr(0, line.size() / 2)));
        return false;
      default:  // silent: until the fault is taken back, and then all that was not said
        std::unique_lock lock(mutex_);
        const std::uint64_t cuts = cuts_;
        changed_.wait(lock, [&] {
          return cuts != cuts_ || std::ranges::none_of(options_.faults, [](const Fault& one) {
                   return one.kind == Fault::Kind::silent;
                 });
        });
        if (cuts != cuts_) return false;
        all += line;
    }
  }
  return all.empty() || talk.say(chunk_of(all));
}

// What happens by itself: requests that floated arrive, Jobs end.
void HttpApiServer::keep_time() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    changed_.wait_for(lock, kTick, [this] { return is_stopping_; });
    const WallTime now = wall_now();
    server_.now = std::chrono::floor<Seconds>(now);
    const std::uint64_t before = server_.version();
    for (std::size_t i = 0; i < floating_.size();) {
      if (floating_[i].first > now) {
        ++i;
        continue;
      }
      const Call call = floating_[i].second;
      floating_.erase(floating_.begin() + static_cast<std::ptrdiff_t>(i));
      note(call, server_.respond(call.request).code);
    }
    notice_starts();
    for (; options_.jobs_take && ended_ < started_.size(); ++ended_) {
      const Start& start = started_[ended_];
      if (start.at + *options_.jobs_take > now) break;
      const std::size_t slash = start.job.identity.find('/');
      server_.finish(start.job.identity.substr(0, slash), start.job.name, true);
    }
    if (server_.version() != before) changed_.notify_all();
  }
}

}  // namespace kron::testing
