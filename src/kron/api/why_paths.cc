#include <memory>
#include <utility>

#include "kron/api/job_json.h"
#include "kron/api/paths.h"
#include "kron/report/why.h"

namespace kron::api {
namespace {

// A question on its way: facts come from the loop, then from the history; what takes its time is done aside.
struct Inquiry {
  CallPtr call;
  report::WhyQuestion question;
  report::WhyFacts facts = {};
};
using InquiryPtr = std::shared_ptr<Inquiry>;

void answer(const InquiryPtr& inquiry) {
  const report::WhyFacts& facts = inquiry->facts;
  const report::WhyQuestion& question = inquiry->question;
  const Instant asked = question.period ? *question.period : question.at.value_or(facts.now);
  inquiry->call->send_json(report::json_of(report::why(facts, question), facts.job, asked, facts.now));
}

void ask_history(Parts& parts, const InquiryPtr& inquiry) {
  parts.history.up_times([inquiry](std::vector<history::UpTime> up) { inquiry->facts.up = std::move(up); });
  parts.history.pauses_of(inquiry->facts.job.identity, [inquiry](const std::vector<history::Pause>& pauses) {
    for (const history::Pause& pause : pauses) {
      inquiry->facts.pauses.push_back({pause.since, pause.until, pause.by, pause.note});
    }
  });
  history::Around needed = report::entries_needed(inquiry->facts.job, inquiry->question, inquiry->facts.now);
  parts.history.find_around(std::move(needed), [&parts, inquiry](Result<std::vector<history::Entry>> entries) {
    if (!entries) return inquiry->call->refuse(entries.error());
    inquiry->facts.entries = *std::move(entries);
    if (!parts.aside([inquiry] { answer(inquiry); })) inquiry->call->refuse(too_busy());
  });
}

// On the loop. False: there is no such job.
bool take_facts(const Parts& parts, const std::string& name, Inquiry& inquiry) {
  report::WhyFacts& facts = inquiry.facts;
  const auto& unscheduled = parts.scheduler.unscheduled();
  if (const auto view = parts.scheduler.view(name)) {
    facts.job = view->definition.job;
    facts.state = view->known.periods;
    facts.active = view->known.active;
    if (view->slot_wait && view->queued) {
      facts.slot_wait = report::WhyFacts::SlotWait{view->slot_wait->pool, view->slot_wait->since};
    }
    if (view->spread_start) facts.spread_start = {{view->spread_start->period, view->spread_start->at}};
    if (const auto& pool = view->definition.options->pool) facts.pool = pool->name;
    if (auto suspended = suspension_of(*view); suspended && pause_in_definition(*view) != nullptr) {
      facts.job.policy.suspend = false;
      facts.state.suspended = std::move(suspended);
    }
  } else if (const auto found = unscheduled.find(name); found != unscheduled.end()) {
    facts.job = found->second.definition.job;
    facts.not_scheduled = found->second.reason;
  } else {
    return false;
  }
  const DaemonStatus status = parts.status();
  if (status.cluster) facts.host = status.cluster->instance.empty() ? status.cluster->host : status.cluster->instance;
  facts.catch_up_spread = status.catch_up_spread;
  facts.not_started = why_not_ready(status);
  facts.history_age = parts.keeps.age;
  facts.now = now(parts.clock);
  return true;
}

void why(Parts& parts, const CallPtr& call) {
  const auto at = time_parameter(call->request, "at");
  if (!at) return call->refuse(at.error());
  const auto period = time_parameter(call->request, "period");
  if (!period) return call->refuse(period.error());
  if (*at && *period) return call->refuse({Code::invalid, "either a time or a period is asked about, not both", "at"});
  parts.on_loop([&parts, call, question = report::WhyQuestion{*at, *period}] {
    const auto inquiry = std::make_shared<Inquiry>(Inquiry{call, question});
    const std::string& name = call->names.front();
    if (!take_facts(parts, name, *inquiry)) return call->refuse(no_such_job(name));
    // Which period is meant takes a while to find where windows are long and periods many.
    if (!parts.aside([&parts, inquiry] { ask_history(parts, inquiry); })) call->refuse(too_busy());
  });
}

}  // namespace

std::vector<Route> why_routes(Parts& parts) {
  return {{"GET", "/api/v1/jobs/{name}/why", Right::read, with(parts, why), {"at", "period"}}};
}

}  // namespace kron::api
