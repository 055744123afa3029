#include <memory>
#include <utility>

#include "kron/api/attribution.h"
#include "kron/api/json_values.h"
#include "kron/api/paths.h"

namespace kron::api {
namespace {

// More would be a copy of all of them that takes too much memory; `kron lint` on the files tells the rest.
constexpr std::size_t kMostPreviewedJobs = 200'000;

void write_changes(JsonWriter& json, const JobChanges& changes) {
  const auto write_kind = [&](const char* name, const char* count, const JobChanges::Kind& kind) {
    json.key(name).begin_list();
    for (const std::string& job : kind.names) json.text(job);
    json.end_list().key(count).integer(number(kind.count));
  };
  write_kind("added", "addedCount", changes.added);
  write_kind("changed", "changedCount", changes.changed);
  write_kind("removed", "removedCount", changes.removed);
}

std::string reload_json(const ReloadReport& report, bool is_dry_run) {
  JsonWriter json;
  json.begin_map().key("jobs").integer(number(report.jobs)).key("keptFiles").begin_list();
  for (const std::string& path : report.kept_files) json.text(path);
  json.end_list().key("problems").begin_list();
  for (const jobs::Problem& problem : report.problems) {
    json.begin_map().member("file", problem.file).key("line").integer(number(problem.at.line));
    json.key("column").integer(number(problem.at.column)).member("severity", name_of(problem.severity));
    if (!problem.field.empty()) json.member("field", problem.field);
    json.member("message", problem.message + (problem.cure.empty() ? "" : "; " + problem.cure)).end_map();
  }
  json.end_list();
  write_changes(json, report.changes);
  return json.key("dryRun").boolean(is_dry_run).end_map().take();
}

// The jobs in force, gathered a stretch in each turn of the loop.
struct InForce {
  CallPtr call;
  std::vector<jobs::JobDefinition> definitions = {};
  std::size_t at = 0;
};

void answer_preview(Parts& parts, const std::shared_ptr<InForce>& in_force) {
  // As many files as there are take their time: quick answers do not wait for it.
  const bool taken = parts.ahead([&parts, in_force] {
    in_force->call->send_json(reload_json(parts.preview_reload(in_force->definitions), true));
  });
  if (!taken) in_force->call->refuse(too_busy());
}

void gather_in_force(Parts& parts, const std::shared_ptr<InForce>& in_force) {
  parts.on_loop([&parts, in_force] {
    auto found = parts.scheduler.views({.first = in_force->at, .most_views = kLooksAtOnce, .most_looks = kLooksAtOnce});
    for (auto& view : found.views) in_force->definitions.push_back(std::move(view.definition));
    if (in_force->definitions.size() > kMostPreviewedJobs) {
      return in_force->call->refuse(
          {Code::refused, "there are more than " + std::to_string(kMostPreviewedJobs) +
                              " jobs; `kron lint` on their files tells what is wrong with them"});
    }
    if (!found.next) return answer_preview(parts, in_force);
    in_force->at = *found.next;
    gather_in_force(parts, in_force);
  });
}

void preview_reload(Parts& parts, const CallPtr& call) {
  if (!parts.preview_reload) {
    return call->refuse({Code::conflict,
                         "the jobs of this krond come from no files; `kron cluster validate` checks the definitions of "
                         "a cluster"});
  }
  gather_in_force(parts, std::make_shared<InForce>(InForce{call}));
}

void reload(Parts& parts, const CallPtr& call) {
  const auto dry_run = word_parameter(call->request, "dryRun", {"true", "false"});
  if (!dry_run) return call->refuse(dry_run.error());
  if (*dry_run == "true") return preview_reload(parts, call);
  const auto from = attribution_of(call->request);
  if (!from) return call->refuse(from.error());
  parts.on_loop([&parts, call, from = *from] {
    parts.log.info("reload_requested", {{"by", from.by}, {"note", from.note}});
    parts.reload([call](const Result<ReloadReport>& report) {
      if (!report) return call->refuse(report.error());
      call->send_json(reload_json(*report, false));
    });
  });
}

}  // namespace

std::vector<Route> reload_routes(Parts& parts) {
  return {{"POST", "/api/v1/reload", Right::operate, with(parts, reload), {"dryRun"}}};
}

}  // namespace kron::api
