#include <algorithm>
#include <cstdio>

#include "answer_text.h"
#include "flag_values.h"
#include "kron/base/text.h"
#include "kron/forecast/upcoming.h"
#include "kron/operator/names.h"
#include "kube_files.h"
#include "kube_objects.h"
#include "kube_verbs.h"
#include "lines.h"
#include "next_rows.h"

namespace kron::cli {
namespace {

constexpr std::string_view kKubeNext = "kube next";

// A KronJob whose periods are shown.
struct Scheduled {
  KubeName name;
  Job job;
  JobState state = {};  // what is known of its periods; of a manifest nothing
};

struct AheadList {
  std::vector<Scheduled> kron_jobs;
  int status = 0;
};

void say_aside(const std::string& identity, std::string_view what) {
  std::fprintf(stderr, "kron kube next: %s %s\n", harmless(identity).c_str(), harmless(what).c_str());
}

void take_or_tell(AheadList& ahead, Scheduled scheduled) {
  if (scheduled.job.policy.suspend) {
    return say_aside(scheduled.job.identity, "is suspended: nothing of it starts until it is resumed");
  }
  ahead.kron_jobs.push_back(std::move(scheduled));
}

Result<AheadList> of_files(const KubeNextOptions& options) {
  ZoneDatabase zones;
  const ReadManifests read = read_manifest_files(options.files, options.ns.empty() ? "default" : options.ns, zones);
  show_manifest_errors(read);
  AheadList ahead{{}, read.status()};
  std::vector<std::string> missing = options.names;
  for (const kronjobs::Manifest& manifest : read.manifests) {
    const std::string identity = kronjobs::identity_of(manifest.ns, manifest.name);
    const auto is_meant = [&](const std::string& word) { return word == manifest.name || word == identity; };
    if (!options.names.empty() && std::ranges::none_of(options.names, is_meant)) continue;
    std::erase_if(missing, is_meant);
    if (manifest.spec.job) take_or_tell(ahead, {{manifest.ns, manifest.name}, *manifest.spec.job});
  }
  if (missing.empty()) return ahead;
  return fail(Code::not_found, "there is no KronJob " + quoted(missing.front(), 200) + " in the files");
}

Result<std::vector<Node>> objects_asked_for(KubeSession& session, const KubeNextOptions& options) {
  if (options.names.empty()) return list_kron_jobs(session, options.all_namespaces ? "" : session.ns());
  std::vector<Node> objects;
  for (const std::string& word : options.names) {
    const auto name = kube_name(word, session.ns());
    if (!name) return fail(name.error());
    Result<Node> object = read_kron_job(session, *name);
    if (!object) return fail(object.error());
    objects.push_back(*std::move(object));
  }
  return objects;
}

Result<AheadList> of_cluster(const KubeNextOptions& options) {
  if (const Status good = check_namespace_flag(options.ns); !good) return fail(good.error());
  auto session = KubeSession::open(options);
  if (!session) return fail(session.error());
  const auto objects = objects_asked_for(*session, options);
  if (!objects) return fail(objects.error());
  AheadList ahead;
  ZoneDatabase zones;
  for (const Node& object : *objects) {
    const Result<kronjobs::KronJobView> view = kronjobs::view_kron_job(object, zones);
    if (!view) return fail(view.error());
    if (!view->job) {
      say_aside(view->identity, "cannot be scheduled: " + view->problem);
      ahead.status = exit_status(Code::invalid);
      continue;
    }
    take_or_tell(ahead, {{view->meta.ns, view->meta.name}, *view->job, kronjobs::known_state(*view)});
  }
  return ahead;
}

std::string json_of_period(const Scheduled& scheduled, const Decision& period) {
  JsonWriter json;
  json.begin_map();
  write_period(json, scheduled.job, period);
  json.member("namespace", scheduled.name.ns).member("name", scheduled.name.name);
  json.member("jobName", kronjobs::job_name(scheduled.name.ns, scheduled.name.name, period.nominal));
  return json.end_map().take();
}

void print_ahead(const std::vector<Scheduled>& kron_jobs, const Reach& reach, const KubeNextOptions& options) {
  const ScreenTimes times = screen_times(options.times);
  const bool is_json = options.json;
  Agenda agenda;
  int width = 3;
  for (std::size_t i = 0; i < kron_jobs.size(); ++i) {
    Result<Upcoming> upcoming = Upcoming::of(kron_jobs[i].job, reach.from);
    if (!upcoming) continue;  // neither @reboot nor so many open periods become a KronJob's
    width = std::max(width, static_cast<int>(kron_jobs[i].job.identity.size()));
    agenda.add(i, *std::move(upcoming));
  }
  if (!is_json) print_period_title(width, times);
  for (std::int64_t shown = 0; shown < reach.count;) {
    const std::optional<Agenda::Entry> entry = agenda.next();
    if (!entry || entry->period.due() >= reach.end) break;
    const Scheduled& scheduled = kron_jobs[entry->job];
    // It has run, or was judged, before its time: the clock, or the window, was another then.
    if (kronjobs::is_handled(scheduled.state, entry->period.nominal)) continue;
    ++shown;
    if (is_json) {
      std::printf("%s\n", json_of_period(scheduled, entry->period).c_str());
    } else {
      print_period(scheduled.job, entry->period, width, times);
    }
  }
}

}  // namespace

int kube_next(const KubeNextOptions& options) {
  const Result<Reach> reach = reach_of(options.from, options.count, options.duration);
  if (!reach) return refuse(kKubeNext, reach.error(), options.json);
  const Result<AheadList> ahead = options.files.empty() ? of_cluster(options) : of_files(options);
  if (!ahead) return refuse(kKubeNext, ahead.error(), options.json);
  print_ahead(ahead->kron_jobs, *reach, options);
  return ahead->status;
}

}  // namespace kron::cli
