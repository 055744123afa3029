#include <algorithm>
#include <array>
#include <cstdio>

#include "answer_text.h"
#include "asked_period.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/forecast/explanation.h"
#include "kron/json/writer.h"
#include "kron/operator/names.h"
#include "kron/operator/verdict.h"
#include "kube_files.h"
#include "kube_objects.h"
#include "kube_verbs.h"
#include "lines.h"

namespace kron::cli {
namespace {

using kronjobs::KronJobView;
using kronjobs::PeriodFate;
using kronjobs::PeriodNote;

constexpr std::string_view kKubeExplain = "kube explain";

// All there is to tell of one period of one KronJob.
struct KubeStory {
  std::string identity;
  std::optional<Instant> period = {};
  std::optional<Explanation> explanation = {};    // none: the schedule of today does not have the period
  std::optional<kronjobs::Verdict> verdict = {};  // none: of a manifest, which no operator has seen
  const KronJobView* kron_job = nullptr;          // likewise null
};

void print_line(std::string_view label, const std::string& text) {
  std::printf("%-14s%s\n", std::string(label).c_str(), harmless(text).c_str());
}

std::string note_text(const PeriodNote& note, const ScreenTimes& times) {
  std::string text = times.at(note.period);
  if (note.outcome) text += " " + std::string(name_of(*note.outcome));
  if (!note.reason.empty()) text += " (" + note.reason + ")";
  if (note.chosen) text += ", chosen " + times.at(*note.chosen);
  if (!note.job_name.empty()) text += ", Job " + note.job_name;
  return text;
}

// Ready says again what the others say, but for a schedule that is over.
bool is_worth_telling(const kronjobs::Condition& condition) {
  if (condition.type == "Ready") {
    constexpr std::array<std::string_view, 3> kOwn{"NoMorePeriods", "ForeignGate", "Ungated"};
    return std::ranges::find(kOwn, condition.reason) != kOwn.end();
  }
  return condition.is_true;
}

std::string operator_text(const KronJobView& kron_job) {
  const auto seen = kron_job.status.observed_generation;
  if (!seen) return "none has looked at this KronJob yet; is it running?";
  if (*seen == kron_job.meta.generation) return {};
  return "it has not seen the latest edit yet (generation " + std::to_string(kron_job.meta.generation) + ", seen " +
         std::to_string(*seen) + ")";
}

void print_state(const KronJobView& kron_job, const ScreenTimes& times) {
  if (const std::string text = operator_text(kron_job); !text.empty()) print_line("operator", text);
  for (const kronjobs::Condition& condition : kron_job.status.conditions) {
    if (!is_worth_telling(condition)) continue;
    print_line("condition", condition.type + " (" + condition.reason + ") since " + times.near(condition.since) +
                                (condition.message.empty() ? "" : ": " + condition.message));
  }
  std::string_view label = "recent";
  for (auto note = kron_job.status.recent.rbegin(); note != kron_job.status.recent.rend(); ++note) {
    print_line(std::exchange(label, ""), note_text(*note, times));
  }
}

void print_story(const KubeStory& story, const ScreenTimes& times) {
  if (story.explanation) {
    std::fputs(text_of(*story.explanation).c_str(), stdout);
  } else {
    print_line("job", story.identity);
    if (story.period) print_line("period", times.at(*story.period));
  }
  if (story.verdict) print_line("verdict", story.verdict->sentence);
  if (story.kron_job != nullptr) print_state(*story.kron_job, times);
}

void write_note(JsonWriter& json, const PeriodNote& note) {
  json.begin_map().member("periodId", rfc3339(note.period));
  json.member("chosenTime", note.chosen ? rfc3339(*note.chosen) : "").member("at", note.at ? rfc3339(*note.at) : "");
  json.member("outcome", note.outcome ? name_of(*note.outcome) : "").member("reason", note.reason);
  json.member("jobName", note.job_name).end_map();
}

void write_verdict(JsonWriter& json, const std::optional<kronjobs::Verdict>& verdict) {
  json.key("verdict");
  if (!verdict) {
    json.null();
    return;
  }
  const PeriodNote note = verdict->note.value_or(PeriodNote{});
  json.begin_map().member("state", name_of(verdict->fate)).member("sentence", verdict->sentence);
  json.member("reason", note.reason).member("at", note.at ? rfc3339(*note.at) : "");
  json.member("jobName", verdict->job_name).end_map();
}

std::string json_of_story(const KubeStory& story) {
  JsonWriter json;
  json.begin_map().member("identity", story.identity);
  json.member("periodId", story.period ? rfc3339(*story.period) : "");
  write_verdict(json, story.verdict);
  json.member("operator", story.kron_job != nullptr ? operator_text(*story.kron_job) : "");
  json.key("conditions").begin_list();
  if (story.kron_job != nullptr) {
    for (const kronjobs::Condition& condition : story.kron_job->status.conditions) {
      json.begin_map().member("type", condition.type).key("status").boolean(condition.is_true);
      json.member("reason", condition.reason).member("message", condition.message);
      json.member("since", rfc3339(condition.since)).end_map();
    }
  }
  json.end_list().key("recent").begin_list();
  if (story.kron_job != nullptr) {
    for (const PeriodNote& note : story.kron_job->status.recent) write_note(json, note);
  }
  json.end_list().key("explanation");
  if (story.explanation) {
    json.document(json_of(*story.explanation));
  } else {
    json.null();
  }
  return json.end_map().take();
}

void show_story(const KubeStory& story, const KubeExplainOptions& options) {
  if (options.json) {
    std::printf("%s\n", json_of_story(story).c_str());
  } else {
    print_story(story, screen_times(options.times));
  }
}

int explain_manifest(const KubeExplainOptions& options, Instant now) {
  ZoneDatabase zones;
  const ReadManifests read = read_manifest_files(options.files, options.ns.empty() ? "default" : options.ns, zones);
  show_manifest_errors(read);
  const auto is_meant = [&](const kronjobs::Manifest& manifest) {
    return options.name == manifest.name || options.name == kronjobs::identity_of(manifest.ns, manifest.name);
  };
  const auto found = std::ranges::find_if(read.manifests, is_meant);
  if (found == read.manifests.end()) {
    const Error missing{Code::not_found, "there is no KronJob " + quoted(options.name, 200) + " in the files"};
    return std::max(refuse(kKubeExplain, missing, options.json), read.status());
  }
  if (!found->spec.job) return read.status();  // its errors are told
  const Job& job = *found->spec.job;
  const Result<Instant> period = period_asked_for({options.period, options.at}, job, now);
  if (!period) return refuse(kKubeExplain, period.error(), options.json);
  show_story({.identity = job.identity, .period = *period, .explanation = explain(job, *period, now)}, options);
  return read.status();
}

// What the status alone can tell: it needs no schedule.
bool is_past(PeriodFate fate) { return fate < PeriodFate::not_counted; }

Result<std::optional<Instant>> period_of(const KubeExplainOptions& options, const KronJobView& kron_job, Instant now) {
  if (kron_job.job) {
    Result<Instant> period = period_asked_for({options.period, options.at}, *kron_job.job, now);
    if (period) return std::optional(*period);
    if (options.period.empty()) return fail(period.error());
    // The schedule may have been another when it was judged.
    const Result<Instant> asked = time_flag(options.period, "--period");
    if (!asked || !is_past(kronjobs::verdict_of(kron_job, {}, *asked, now).fate)) return fail(period.error());
    return std::optional(*asked);
  }
  if (options.period.empty()) return std::optional<Instant>();
  const Result<Instant> asked = time_flag(options.period, "--period");
  if (!asked) return fail(asked.error());
  return std::optional(*asked);
}

// Without the right to read Jobs, the status has to do.
Result<std::vector<kronjobs::JobView>> jobs_if_allowed(KubeSession& session, const KubeName& name) {
  auto jobs = list_jobs_of(session, name);
  if (jobs || jobs.error().code != Code::refused) return jobs;
  std::fprintf(stderr, "kron kube explain: the Jobs cannot be read, so only the status is told: %s\n",
               jobs.error().message.c_str());
  return std::vector<kronjobs::JobView>();
}

int explain_stored(const KubeExplainOptions& options, Instant now) {
  if (const Status good = check_namespace_flag(options.ns); !good) {
    return refuse(kKubeExplain, good.error(), options.json);
  }
  auto session = KubeSession::open(options);
  if (!session) return refuse(kKubeExplain, session.error(), options.json);
  const auto name = kube_name(options.name, session->ns());
  if (!name) return refuse(kKubeExplain, name.error(), options.json);
  const Result<Node> object = read_kron_job(*session, *name);
  if (!object) return refuse(kKubeExplain, object.error(), options.json);
  ZoneDatabase zones;
  const Result<KronJobView> kron_job = kronjobs::view_kron_job(*object, zones);
  if (!kron_job) return refuse(kKubeExplain, kron_job.error(), options.json);
  const auto period = period_of(options, *kron_job, now);
  if (!period) return refuse(kKubeExplain, period.error(), options.json);
  const auto jobs = jobs_if_allowed(*session, *name);
  if (!jobs) return refuse(kKubeExplain, jobs.error(), options.json);

  KubeStory story{.identity = kron_job->identity, .period = *period, .kron_job = &*kron_job};
  const Instant asked = period->value_or(now);
  story.verdict = kronjobs::verdict_of(*kron_job, *jobs, asked, now);
  if (kron_job->job && *period && kron_job->job->schedule.is_nominal(asked, kron_job->job->zone)) {
    const bool is_open = story.verdict->fate == PeriodFate::due || story.verdict->fate == PeriodFate::ahead;
    story.explanation = explain(*kron_job->job, asked, is_open ? std::optional(now) : std::nullopt);
  }
  show_story(story, options);
  return kron_job->job ? 0 : exit_status(Code::invalid);
}

}  // namespace

int kube_explain(const KubeExplainOptions& options) {
  const Result<Instant> now = time_flag(options.now, "--now");
  if (!now) return refuse(kKubeExplain, now.error(), options.json);
  return options.files.empty() ? explain_stored(options, *now) : explain_manifest(options, *now);
}

}  // namespace kron::cli
