#include "kron/cluster/event_handler.h"

#include <algorithm>

#include "kron/base/text.h"

namespace kron::cluster {

// What is done about each kind of event.
struct EventHandler::Doer {
  EventHandler& handler;
  const Sender& sender;

  void operator()(const events::Pause& event) const {
    // Without `at` each host would tell another beginning: then none is told.
    handler.actions_.set_paused(event.job, jobs::ClusterPause{event.at, sender.by, sender.note});
  }
  void operator()(const events::Resume& event) const { handler.actions_.set_paused(event.job, std::nullopt); }
  void operator()(const events::TerminateRun& event) const {
    say(handler.log_, "terminate_run", event.run_id, handler.actions_.terminate(event.run_id, sender));
  }
  void operator()(const events::KillRun& event) const {
    say(handler.log_, "kill_run", event.run_id, handler.actions_.kill(event.run_id, sender));
  }
  void operator()(const events::Add& event) const { handler.actions_.add(event.job, event.definition); }
  void operator()(const events::Remove& event) const { handler.actions_.remove(event.job); }
  void operator()(const events::Reload&) const { handler.actions_.reload(); }
  void operator()(const events::Validate& event) const { handler.actions_.validate(event.jobs); }

  void operator()(const events::Trigger& event) const {
    const Instant now = kron::now(handler.clock_);
    if (event.at && now - *event.at > kOldestTrigger) {
      handler.log_.warning("cluster_trigger_too_old",
                           {{"identity", event.job}, {"seconds", (now - *event.at).count()}});
      return;
    }
    // The others run it; this host is being emptied.
    if (handler.actions_.is_draining()) return;
    // The answer may come when there is another handler.
    handler.actions_.trigger(event.job, event.id, sender, [&log = handler.log_, job = event.job](const Status& done) {
      say(log, "trigger", job, done);
    });
  }

  void operator()(const events::DrainNodes& event) const {
    const auto is_ours = [&](const std::string& name) {
      return name == handler.host_.name || name == handler.host_.instance;
    };
    if (std::ranges::any_of(event.hosts, is_ours)) handler.actions_.drain();
  }

  // That another host has the run, or was faster, is no news.
  static void say(Log& log, std::string_view action, std::string_view what, const Status& done) {
    if (done || done.error().code == Code::not_found || done.error().code == Code::conflict) return;
    log.warning("cluster_event_failed", {{"action", action}, {"args", what}, {"reason", done.error().message}});
  }
};

// What an event is about, in one word; many have none.
struct EventHandler::SubjectOf {
  std::string_view operator()(const events::TerminateRun& event) const { return event.run_id; }
  std::string_view operator()(const events::KillRun& event) const { return event.run_id; }
  std::string_view operator()(const events::Reload&) const { return {}; }
  std::string_view operator()(const events::Validate& event) const { return only(event.jobs); }
  std::string_view operator()(const events::DrainNodes& event) const { return only(event.hosts); }
  template <class OfJob>
  std::string_view operator()(const OfJob& event) const {
    return event.job;
  }
  static std::string_view only(const std::vector<std::string>& names) {
    return names.size() == 1 ? std::string_view(names.front()) : std::string_view();
  }
};

EventHandler::EventHandler(Actions actions, Host host, const Clock& clock, Log& log)
    : actions_(std::move(actions)), host_(std::move(host)), clock_(clock), log_(log) {}

void EventHandler::handle(std::string_view payload) {
  constexpr std::size_t kShown = 200;
  const Result<Event> event = parse_event(payload);
  if (event) {
    handle(*event, sender_in(payload));
  } else {
    log_.warning("cluster_event_ignored", {{"reason", event.error().message}, {"event", quoted(payload, kShown)}});
  }
}

void EventHandler::handle(const Event& event, const Sender& sender) {
  log_.info(
      "cluster_event",
      {{"action", name_of(event)}, {"args", std::visit(SubjectOf{}, event)}, {"by", sender.by}, {"note", sender.note}});
  std::visit(Doer{*this, sender}, event);
}

}  // namespace kron::cluster
