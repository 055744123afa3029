#include "kron/operator/fake/simulation.h"

#include <algorithm>
#include <utility>

#include "kron/kube/fake/node_edit.h"
#include "kron/operator/names.h"

namespace kron::testing {
namespace {

using kronjobs::Cache;
using kronjobs::Reconciled;
using kronjobs::Step;
using kube::ApiServer;
using kube::Request;
using kube::Verb;

constexpr Seconds kLongestTurn{10};

std::string_view verb_name(Verb verb) {
  constexpr std::string_view kNames[] = {"get", "create", "put", "patch", "delete"};
  return kNames[static_cast<std::size_t>(verb)];
}

std::string_view fate_name(Fate fate) {
  constexpr std::string_view kNames[] = {"", " (answer lost)", " (not sent)", " (floats)"};
  return kNames[static_cast<std::size_t>(fate)];
}

std::string short_form(const Request& request) {
  return std::string(verb_name(request.verb)) + " " +
         request.path.substr(request.path.rfind('/', request.path.size() - 8));
}

bool is_selected(const Node& job) { return kube::node_at(job, {"metadata", "labels", "kron.io/name"}) != nullptr; }

Node without_member(const Node& list, std::size_t i) {
  Node::List items = *list.as<Node::List>();
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
  return Node(std::move(items));
}

}  // namespace

Request World::mutated(Request request) const {
  if (mutant == Mutant::none || request.body.empty()) return request;
  Node body = parse_json(request.body).value();
  if (request.verb == Verb::create && mutant == Mutant::no_gate) {
    body =
        kube::without(kube::with(body, {"spec", "suspend"}, Node(false)), {"metadata", "annotations", "kron.io/gate"});
  }
  if (request.verb == Verb::patch && mutant == Mutant::open_without_uid) body = without_member(body, 0);
  if (request.verb == Verb::patch && mutant == Mutant::mark_stays) body = without_member(body, 1);
  if (request.verb == Verb::remove && mutant == Mutant::remove_without_version) {
    body = kube::without(body, {"preconditions", "resourceVersion"});
  }
  if (request.verb == Verb::update && mutant == Mutant::record_without_version) {
    body = kube::without(body, {"metadata", "resourceVersion"});
  }
  if (request.verb == Verb::update && mutant == Mutant::one_slot) {
    const Node* starting = kube::node_at(body, {"status", "starting"});
    if (starting != nullptr && starting->as<Node::List>()->size() > 1) {
      body = kube::with(body, {"status", "starting"}, Node(Node::List{starting->as<Node::List>()->back()}));
    }
  }
  request.body = JsonWriter().node(body).take();
  return request;
}

kube::Answer World::deliver(const Request& request) {
  witness.look_before(server, request);
  kube::Answer answer = server.handle(request);
  witness.look_after(server, request, answer);
  return answer;
}

kube::Reply World::send(const Request& request, Fate fate) {
  const Request sent = mutated(request);
  std::string line = rfc3339(server.now) + " " + short_form(sent) + std::string(fate_name(fate));
  if (fate == Fate::not_sent || fate == Fate::floats) {
    trace.push_back(std::move(line));
    if (fate == Fate::floats) floating.push_back(sent);
    return fate == Fate::floats ? kube::Failure::unknown : kube::Failure::not_sent;
  }
  kube::Answer answer = deliver(sent);
  trace.push_back(line + " " + std::to_string(answer.code));
  if (fate == Fate::answer_lost) return kube::Failure::unknown;
  return answer;
}

void World::land(std::size_t which) {
  const Request request = floating[which];
  floating.erase(floating.begin() + static_cast<std::ptrdiff_t>(which));
  const kube::Answer answer = deliver(request);
  trace.push_back(rfc3339(server.now) + " lands: " + short_form(request) + " " + std::to_string(answer.code));
}

void Leader::crash() {
  cache_ = Cache();
  has_kron_jobs_ = has_jobs_ = false;
  then_.reset();
  backs_off_ = false;
  rests_until_.reset();
  busy_since_.reset();
}

void Leader::put_kron_job(const Node& object) {
  kronjobs::KronJobView view = kronjobs::view_kron_job(object, zones()).value();
  if (world_.mutant == Mutant::no_floor) view.meta.created = kFirstInstant;
  cache_.put(std::move(view), now());
}

// As a reflector does: what is not in the list was deleted while we did not look.
void Leader::list(std::string_view resource) {
  const bool is_jobs = resource == "jobs";
  const std::string version = std::to_string(world_.server.version());
  std::vector<std::string> listed;
  for (const ApiServer::Object& object : world_.server.list(resource)) {
    if (is_jobs && !is_selected(*object)) continue;
    listed.push_back(kube::text_at(*object, {"metadata", "uid"}));
    if (is_jobs) {
      cache_.put(kronjobs::view_job(*object).value());
    } else {
      put_kron_job(*object);
    }
  }
  const auto is_listed = [&](const std::string& uid) { return std::ranges::find(listed, uid) != listed.end(); };
  for (const std::string& identity : cache_.identities()) {
    const kronjobs::CacheEntry entry = *std::as_const(cache_).find(identity);
    if (!is_jobs && entry.kron_job && !is_listed(entry.kron_job->meta.uid)) {
      cache_.remove_kron_job(identity, version, now());
    }
    for (const kronjobs::JobView& job : entry.jobs) {
      if (is_jobs && !is_listed(job.meta.uid)) cache_.remove_job(job.meta.ns, job.meta.name, job.meta.uid, version);
    }
  }
  heard(resource) = world_.server.events().size();
  (is_jobs ? has_jobs_ : has_kron_jobs_) = true;
}

const ApiServer::Event* Leader::next_event(std::string_view resource) {
  const auto& events = world_.server.events();
  std::size_t& heard = this->heard(resource);
  while (heard < events.size() && events[heard].resource != resource) ++heard;
  return heard < events.size() ? &events[heard] : nullptr;
}

bool Leader::hear(std::string_view resource, bool twice) {
  const std::size_t before = heard(resource);
  const ApiServer::Event* event = next_event(resource);
  if (event == nullptr) return false;
  ++heard(resource);
  if (twice && before > 0 && world_.server.events()[before - 1].resource == resource) {
    take_event(world_.server.events()[before - 1]);
  }
  take_event(*event);
  return true;
}

void Leader::lose_event(std::string_view resource) {
  if (next_event(resource) != nullptr) ++heard(resource);
}

void Leader::hear_all() {
  while (hear("kronjobs") || hear("jobs")) {
  }
}

void Leader::take_event(const ApiServer::Event& event) {
  const std::string version = std::to_string(event.version);
  const bool is_deleted = event.type == ApiServer::Event::Type::deleted;
  if (event.resource == "kronjobs") {
    if (!is_deleted) return put_kron_job(*event.object);
    const kronjobs::KronJobView last = kronjobs::view_kron_job(*event.object, zones()).value();
    return cache_.remove_kron_job(last.identity, version, now(), &last);
  }
  kronjobs::JobView job = kronjobs::view_job(*event.object).value();
  // The watch selects by label: a Job that loses it is deleted for those who watch.
  if (!is_deleted && is_selected(*event.object)) return cache_.put(std::move(job));
  cache_.remove_job(job.meta.ns, job.meta.name, job.meta.uid, version);
}

// What became due since the timer fired, or while we were busy, is on time, for ten seconds.
Turn Leader::turn() const {
  Instant since = busy_since_.value_or(now());
  if (!busy_since_ && rests_until_ && *rests_until_ <= now()) since = *rests_until_;
  return {now(), std::clamp(since, now() - kLongestTurn, now())};
}

Reconciled Leader::next() const {
  const std::string identity(kReport);
  std::optional<kronjobs::Seen> seen = cache_.seen(identity);
  if (!seen) {
    const kronjobs::CacheEntry* entry = cache_.find(identity);
    if (entry == nullptr || !entry->tombstone) return {kronjobs::Rest{}, {}};
    return kronjobs::reconcile_gone(entry->jobs, entry->tombstone->uid);
  }
  std::vector<std::string> answered(seen->answered.begin(), seen->answered.end());
  if (world_.mutant == Mutant::dropped_on_absence) {
    for (const kronjobs::Starting& entry : seen->kron_job.status.starting) {
      const auto is_it = [&](const kronjobs::JobView& job) { return job.meta.uid == entry.job_uid; };
      if (std::ranges::none_of(seen->jobs, is_it)) answered.push_back(entry.job_uid);
    }
  }
  seen->answered = answered;
  return kronjobs::reconcile(*seen, turn());
}

kronjobs::Next Leader::take(const Step& step, const kube::Reply& reply) {
  const auto* answer = std::get_if<kube::Answer>(&reply);
  if (world_.mutant == Mutant::no_own_answers && answer != nullptr && answer->code < 300 &&
      !std::holds_alternative<kronjobs::TryTemplate>(step)) {
    return {};
  }
  if (world_.mutant == Mutant::no_floor && answer != nullptr && answer->code < 300 &&
      kube::text_at(answer->body, {"kind"}) == "KronJob") {
    put_kron_job(answer->body);
    return {};
  }
  return kronjobs::take_answer(cache_, kReport, step, reply, now(), zones());
}

bool Leader::step(Fate fate) {
  Step step = kronjobs::Rest{};
  std::vector<kronjobs::Notice> notices;
  if (then_) {
    step = *std::exchange(then_, std::nullopt);
  } else {
    Reconciled found = next();
    step = std::move(found.step);
    notices = std::move(found.notices);
  }
  if (const auto* rest = std::get_if<kronjobs::Rest>(&step)) {
    rests_until_ = rest->until;
    busy_since_.reset();
    return false;
  }
  if (!busy_since_) busy_since_ = turn().on_time_since;
  const kronjobs::CacheEntry* entry = std::as_const(cache_).find(kReport);
  kube::ObjectMeta meta{.ns = std::string(kNamespace), .name = std::string(kName)};
  if (entry != nullptr && entry->kron_job) meta = entry->kron_job->meta;
  world_.trace.push_back(name_ + ":");
  const kube::Reply reply = world_.send(kronjobs::request_of(step, meta), fate);
  kronjobs::Next next = take(step, reply);
  notices_.insert(notices_.end(), notices.begin(), notices.end());
  notices_.insert(notices_.end(), next.notices.begin(), next.notices.end());
  backs_off_ = backs_off_ || next.back_off;
  then_ = std::move(next.then);
  return then_ || !std::exchange(backs_off_, false);
}

bool settle_down(World& world, int most_calls) {
  Leader leader(world, "last");
  leader.list("jobs");
  leader.list("kronjobs");
  for (int i = 0; i < most_calls; ++i) {
    if (!leader.step(Fate::answered)) {
      // It may have backed off; when nothing has happened since, it rests.
      const std::size_t calls = world.witness.calls();
      leader.hear_all();
      leader.step(Fate::answered);
      if (world.witness.calls() == calls) return true;
    }
    leader.hear_all();
  }
  return false;
}

}  // namespace kron::testing
