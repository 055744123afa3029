// Lists by pages, and watches.
#include <algorithm>
#include <charconv>
#include <utility>

#include "kron/json/writer.h"
#include "kron/kube/api_error.h"
#include "kron/kube/fake/api_server.h"
#include "kron/kube/fake/node_edit.h"
#include "kron/kube/fake/status_answer.h"

namespace kron::kube {
namespace {

constexpr std::size_t kMostSnapshots = 16;

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Answer expired() { return status_answer(410, "Expired", "the provided continue parameter is too old"); }

std::string line_of(std::string_view type, const Node& object) {
  return JsonWriter().begin_map().member("type", type).key("object").node(object).end_map().take() + "\n";
}

// What an event is to one who sees only some objects: what he does not see any more is deleted for him.
std::string_view type_for(bool was_seen, bool is_seen) {
  if (was_seen) return is_seen ? "MODIFIED" : "DELETED";
  return is_seen ? "ADDED" : "";
}

}  // namespace

std::vector<ApiServer::Object> ApiServer::selected(const Target& target, const Selector& selector) const {
  std::vector<Object> found;
  const std::string begin = target.ns.empty() ? std::string() : target.ns + "/";
  for (auto at = objects_.lower_bound({target.resource, begin}); at != objects_.end(); ++at) {
    if (at->first.first != target.resource || !at->first.second.starts_with(begin)) break;
    if (selector.selects(*at->second)) found.push_back(at->second);
  }
  return found;
}

std::variant<ApiServer::Page, Answer> ApiServer::page(const Target& target, std::string_view query) {
  const Result<Selector> selector = Selector::of_query(query);
  if (!selector) return status_answer(400, "BadRequest", selector.error().message);
  const std::size_t limit = number_of(query_value(query, "limit")).value_or(0);
  const std::string token = query_value(query, "continue");
  if (token.empty()) {
    Page page{.items = selected(target, *selector), .version = version_};
    if (limit == 0 || page.items.size() <= limit) return page;
    snapshots_.push_back({++lists_, version_, page.items});
    if (snapshots_.size() > kMostSnapshots) snapshots_.pop_front();
    page.remaining = page.items.size() - limit;
    page.items.resize(limit);
    page.next = std::to_string(lists_) + "/" + std::to_string(limit);
    return page;
  }
  const std::size_t slash = std::min(token.find('/'), token.size());
  const auto id = number_of(std::string_view(token).substr(0, slash));
  const auto offset = number_of(std::string_view(token).substr(std::min(slash + 1, token.size())));
  if (!id || !offset) return status_answer(400, "BadRequest", "continue key is not valid");
  const auto found = std::ranges::find(snapshots_, *id, &Snapshot::id);
  if (found == snapshots_.end() || *offset > found->items.size()) return expired();
  const std::size_t end = std::min(limit == 0 ? found->items.size() : *offset + limit, found->items.size());
  Page page{.version = found->version};
  page.items.assign(found->items.begin() + static_cast<std::ptrdiff_t>(*offset),
                    found->items.begin() + static_cast<std::ptrdiff_t>(end));
  page.remaining = found->items.size() - end;
  if (page.remaining > 0) page.next = std::to_string(*id) + "/" + std::to_string(end);
  return page;
}

Answer ApiServer::list_answer(const Target& target, std::string_view query) {
  std::variant<Page, Answer> got = page(target, query);
  if (auto* refusal = std::get_if<Answer>(&got)) return std::move(*refusal);
  const auto& page = std::get<Page>(got);
  Node body = with_text(Node(Node::Map()), {"metadata", "resourceVersion"}, std::to_string(page.version));
  if (!page.next.empty()) body = with_text(body, {"metadata", "continue"}, page.next);
  Node::List items;
  for (const Object& object : page.items) items.push_back(*object);
  return {200, with(body, {"items"}, Node(std::move(items)))};
}

Response ApiServer::respond(const Request& request) {
  const std::optional<Target> target = target_of(request.path);
  if (target && request.verb == Verb::get && target->name.empty()) {
    const std::optional<Answer> refusal = refused(request);
    std::variant<Page, Answer> got = refusal ? *refusal : page(*target, request.query);
    if (const auto* page = std::get_if<Page>(&got)) {
      JsonWriter out;
      out.begin_map().member("kind", "List").key("metadata").begin_map();
      out.member("resourceVersion", std::to_string(page->version));
      if (!page->next.empty()) {
        out.member("continue", page->next).key("remainingItemCount");
        out.integer(static_cast<std::int64_t>(page->remaining));
      }
      out.end_map().key("items").begin_list();
      for (const Object& object : page->items) out.node(*object);
      return {.code = 200, .body = out.end_list().end_map().take()};
    }
    return response_of(std::get<Answer>(got));
  }
  return response_of(handle(request));
}

Response ApiServer::response_of(const Answer& answer) {
  Response response{.code = answer.code, .body = JsonWriter().node(answer.body).take()};
  if (const auto error = error_in(answer)) response.retry_after = error->retry_after;
  return response;
}

bool ApiServer::is_watch(const Request& request) {
  const std::string wish = query_value(request.query, "watch");
  return request.verb == Verb::get && (wish == "1" || wish == "true");
}

std::variant<ApiServer::Watch, Answer> ApiServer::watch(const Request& request) {
  if (std::optional<Answer> refusal = refused(request)) return *std::move(refusal);
  const std::optional<Target> target = target_of(request.path);
  const Result<Selector> selector = Selector::of_query(request.query);
  if (!selector) return status_answer(400, "BadRequest", selector.error().message);
  // From "any" version it would begin with everything that is there: nobody who lists first asks for that.
  const auto version = number_of(query_value(request.query, "resourceVersion"));
  if (!version || *version == 0) return status_answer(400, "BadRequest", "a watch begins at a version, here");
  if (*version > version_) return status_answer(504, "Timeout", "Too large resource version", 1);
  if (*version < compacted_ && options.gone_as_status) {
    return status_answer(410, "Expired", "too old resource version");
  }
  Watch watch{.resource = target->resource, .ns = target->ns, .selector = *selector, .version = *version};
  if (const auto seconds = number_of(query_value(request.query, "timeoutSeconds"))) watch.timeout = Seconds(*seconds);
  watch.wants_bookmarks = query_value(request.query, "allowWatchBookmarks") == "true";
  return watch;
}

const ApiServer::Event* ApiServer::next_event(Watch& watch, std::string_view& type) const {
  const auto sees = [&](const Object& object) {
    return object && (watch.ns.empty() || text_at(*object, {"metadata", "namespace"}) == watch.ns) &&
           watch.selector.selects(*object);
  };
  auto event = std::ranges::upper_bound(events_, watch.version, {}, &Event::version);
  for (; event != events_.end(); ++event) {
    watch.version = event->version;
    if (event->resource != watch.resource) continue;
    const bool is_deleted = event->type == Event::Type::deleted;
    type = type_for(sees(is_deleted ? event->object : event->before), !is_deleted && sees(event->object));
    if (!type.empty()) return &*event;
  }
  return nullptr;
}

bool ApiServer::has_news(Watch watch) const {
  std::string_view type;
  return !watch.is_over && (watch.version < compacted_ || next_event(watch, type) != nullptr);
}

std::optional<std::string> ApiServer::next_line(Watch& watch) const {
  if (watch.is_over) return std::nullopt;
  if (watch.version < compacted_) {
    watch.is_over = true;
    return line_of("ERROR", status_answer(410, "Expired", "too old resource version").body);
  }
  std::string_view type;
  const Event* event = next_event(watch, type);
  if (event == nullptr) return std::nullopt;
  if (type != "DELETED" || event->type == Event::Type::deleted) return line_of(type, *event->object);
  // Out of sight: as it was when it was seen last, with the version of what took it away.
  return line_of(type, with_text(*event->before, {"metadata", "resourceVersion"}, std::to_string(event->version)));
}

std::string ApiServer::bookmark(const Watch& watch) {
  return line_of("BOOKMARK",
                 with_text(Node(Node::Map()), {"metadata", "resourceVersion"}, std::to_string(watch.version)));
}

void ApiServer::compact() {
  compacted_ = version_;
  events_.clear();
  snapshots_.clear();
}

}  // namespace kron::kube
