#include <cstdio>
#include <optional>

#include "answer_text.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/env/clock.h"
#include "kron/env/random_hex.h"
#include "kron/json/writer.h"
#include "kron/operator/names.h"
#include "kube_objects.h"
#include "kube_verbs.h"
#include "lines.h"

namespace kron::cli {
namespace {

using kronjobs::JobView;
using kronjobs::KronJobView;

constexpr std::string_view kKubeTrigger = "kube trigger";
constexpr Nanoseconds kFirstLook = std::chrono::milliseconds(100);
constexpr Nanoseconds kLongestLook = Seconds(1);
constexpr Nanoseconds kOperatorPatience = Seconds(20);

// What became of a run that was asked for.
struct ManualRun {
  std::string outcome;  // executed, skipped; empty: the operator has not taken it yet
  std::string reason;
  JobView::End end = JobView::End::none;
  bool is_gone = false;  // the Job was deleted before we saw its end

  [[nodiscard]] bool is_over() const { return outcome == "skipped" || is_gone || end != JobView::End::none; }
};

std::string_view result_word(const ManualRun& run) {
  if (run.outcome == "skipped") return "skipped";
  if (run.end == JobView::End::complete) return "complete";
  if (run.end == JobView::End::failed) return "failed";
  return run.is_gone ? "gone" : "";
}

// The annotation, unless it would run nothing, or take another run's place that nobody has started yet.
Result<std::vector<std::string>> request_for(const Node& object, const std::string& token, ZoneDatabase& zones) {
  const Result<KronJobView> view = kronjobs::view_kron_job(object, zones);
  if (!view) return fail(view.error());
  const std::string last = view->status.last_manual ? view->status.last_manual->token : "";
  if (view->run_now == token || last == token) return std::vector<std::string>();
  if (!view->job) return fail(Code::conflict, "nothing of it runs, because its spec is invalid: " + view->problem);
  if (!view->status.observed_generation) {
    return fail(Code::conflict,
                "no operator has looked at this KronJob yet, and it would not run what is asked for before; "
                "is the operator running?");
  }
  if (kronjobs::is_token(view->run_now) && view->run_now != last) {
    return fail(Code::conflict, "the run " + quoted(view->run_now, 80) +
                                    " was asked for, and the operator has not taken it yet; is it running?");
  }
  const bool has_annotations = kube::node_at(object, {"metadata", "annotations"}) != nullptr;
  JsonWriter out;
  out.begin_map().member("op", "add");
  if (has_annotations) {
    out.member("path", "/metadata/annotations/kron.io~1run-now").member("value", token);
  } else {
    out.member("path", "/metadata/annotations").key("value").begin_map().member(kronjobs::kRunNow, token).end_map();
  }
  return std::vector<std::string>{out.end_map().take()};
}

struct Asked {
  KubeName name;
  std::string token;
  std::string job_name;
};

Result<ManualRun> look_at_run(KubeSession& session, const Asked& asked, const ManualRun& before, ZoneDatabase& zones) {
  ManualRun run = before;
  const auto job = find_job(session, asked.name.ns, asked.job_name);
  if (!job) return fail(job.error());
  if (*job && !(*job)->is_at_gate()) {
    run.outcome = "executed";
    run.end = (*job)->end;
    return run;
  }
  if (!*job && before.outcome == "executed") {
    run.is_gone = true;
    return run;
  }
  const Result<Node> object = read_kron_job(session, asked.name);
  if (!object) return fail(object.error());
  const Result<KronJobView> view = kronjobs::view_kron_job(*object, zones);
  if (!view) return fail(view.error());
  const auto& last = view->status.last_manual;
  if (last && last->token == asked.token) {
    run.outcome = last->outcome.empty() ? "skipped" : last->outcome;
    run.reason = last->reason;
  } else if (view->run_now != asked.token) {
    return fail(Code::conflict, "another run was asked for before the operator took this one");
  }
  return run;
}

Result<ManualRun> wait_for_end(KubeSession& session, const Asked& asked, std::optional<Nanoseconds> limit) {
  const RealClock clock;
  const Nanoseconds began = clock.monotonic();
  ZoneDatabase zones;
  ManualRun run;
  bool has_warned = false;
  for (Nanoseconds length = kFirstLook;; length = std::min(2 * length, kLongestLook)) {
    const auto now = look_at_run(session, asked, run, zones);
    if (!now) return now;
    run = *now;
    if (run.is_over()) return run;
    const Nanoseconds passed = clock.monotonic() - began;
    if (limit && passed >= *limit) {
      return fail(Code::conflict, "Job " + asked.job_name + " has not ended within " + duration_text(*limit) +
                                      "; ask again with --id " + asked.token);
    }
    if (run.outcome.empty() && passed >= kOperatorPatience && !std::exchange(has_warned, true)) {
      std::fprintf(stderr, "kron kube trigger: the operator has not taken it yet; is it running?\n");
    }
    session.pause(length);
  }
}

void print_request(const Asked& asked, bool was_known, const std::optional<ManualRun>& run, bool is_json) {
  if (is_json) {
    JsonWriter json;
    json.begin_map().member("namespace", asked.name.ns).member("name", asked.name.name).member("id", asked.token);
    json.member("jobName", asked.job_name).key("changed").boolean(!was_known);
    if (run) json.member("result", result_word(*run)).member("reason", run->reason);
    std::printf("%s\n", json.end_map().take().c_str());
    return;
  }
  const std::string job = harmless(asked.job_name);
  if (!run) {
    std::printf("%s %s; its Job is %s\n", was_known ? "asked before for a run of" : "asked for a run of",
                harmless(asked.name.ns + "/" + asked.name.name).c_str(), job.c_str());
  } else if (run->outcome == "skipped") {
    std::printf("skipped%s: no Job was started\n",
                run->reason.empty() ? "" : (" (" + harmless(run->reason) + ")").c_str());
  } else if (run->end == JobView::End::none) {
    std::printf("%s was deleted before its end was seen\n", job.c_str());
  } else {
    std::printf("%s %s\n", job.c_str(), run->end == JobView::End::complete ? "completed" : "failed");
  }
}

}  // namespace

int kube_trigger(const KubeTriggerOptions& options) {
  const auto refused = [&](const Error& error) { return refuse(kKubeTrigger, error, options.json); };
  std::optional<Nanoseconds> limit;
  if (!options.timeout.empty()) {
    const Result<Nanoseconds> length = parse_duration(options.timeout);
    if (!length) return refused({length.error().code, length.error().message, "--timeout", length.error().column});
    limit = *length;
  }
  Asked asked{{}, options.id.empty() ? random_hex() : options.id, {}};
  if (!kronjobs::is_token(asked.token)) {
    return refused(
        {Code::unreadable, "--id: " + quoted(asked.token, 80) + " is none; expected 1 to 63 of [A-Za-z0-9._-]"});
  }
  if (const Status good = check_namespace_flag(options.ns); !good) return refused(good.error());
  auto session = KubeSession::open(options);
  if (!session) return refused(session.error());
  const auto name = kube_name(options.name, session->ns());
  if (!name) return refused(name.error());
  asked.name = *name;
  asked.job_name = kronjobs::manual_job_name(name->ns, name->name, asked.token);
  ZoneDatabase zones;
  const auto edit =
      edit_kron_job(*session, *name, [&](const Node& object) { return request_for(object, asked.token, zones); });
  if (!edit) {
    Error error = edit.error();
    if (error.code == Code::unreachable) error.message += "; repeat it with --id " + asked.token;
    return refused(error);
  }
  if (!options.wait) {
    print_request(asked, !edit->changed, {}, options.json);
    return 0;
  }
  const auto run = wait_for_end(*session, asked, limit);
  if (!run) return refused(run.error());
  print_request(asked, !edit->changed, *run, options.json);
  return run->end == JobView::End::complete ? 0 : exit_status(Code::invalid);
}

}  // namespace kron::cli
