#include <algorithm>
#include <cstdio>
#include <set>

#include "answer_text.h"
#include "cluster_read.h"
#include "cluster_verbs.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/jobs/cronken.h"
#include "kron/json/writer.h"
#include "lines.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostCell = 60;  // bytes of a cell; `--format json` has all of it

std::string short_cell(std::string_view text) {
  std::string cell = harmless(text);
  if (cell.size() <= kMostCell) return cell;
  std::size_t size = kMostCell - 3;
  while (size > 0 && (static_cast<unsigned char>(cell[size]) & 0xC0U) == 0x80U) --size;
  return cell.substr(0, size) + "...";
}

struct ListedJob {
  std::string name;
  std::string schedule = {};
  std::string lock = {};
  std::string command = {};
  std::string problem = {};  // why no host runs it; empty: none is known
  bool is_paused = false;
  std::optional<jobs::ClusterPause> pause = {};  // as its definition tells it
  std::vector<ClusterRun> last = {};             // the newest, if there is one
};

ListedJob listed(const std::string& name, std::string_view text, bool is_in_set) {
  ListedJob job{.name = name, .is_paused = is_in_set};
  const auto node = lenient_json(text);
  if (!node || node->as<Node::Map>() == nullptr) {
    job.problem = "no JSON object";
    return job;
  }
  job.schedule = schedule_text(*node);
  job.lock = lock_text(*node);
  if (const Node* args = node->find("job_args")) job.command = text_in(*args, "cmd");
  job.problem = problem_in(*node);
  job.pause = jobs::cronken_pause(*node);
  job.is_paused = job.is_paused || job.pause;
  return job;
}

// Results of a run: the newer of its job's newest success and newest failure.
Status find_last_runs(ClusterSession& session, std::vector<ListedJob>& jobs) {
  constexpr std::size_t kBatch = 200;
  for (std::size_t first = 0; first < jobs.size(); first += kBatch) {
    const std::size_t last = std::min(first + kBatch, jobs.size());
    std::vector<RedisCommand> commands;
    for (std::size_t i = first; i < last; ++i) {
      for (const char* status : {"success", "fail"}) {
        commands.push_back({"ZREVRANGE", session.keys().results(jobs[i].name, status), "0", "0", "WITHSCORES"});
      }
    }
    const auto replies = session.ask_all(commands);
    if (!replies) return fail(replies.error());
    Scored newest;
    std::vector<std::size_t> whose;
    for (std::size_t i = 0; i < replies->size(); ++i) {
      const auto& items = (*replies)[i].value.items;
      if (items.size() != 2) continue;  // none, or a key of another type
      const double at = number_of(items[1].text).value_or(0);
      if (!whose.empty() && whose.back() == first + i / 2) {
        if (at > newest.back().second) newest.back() = {items[0].text, at};
        continue;
      }
      whose.push_back(first + i / 2);
      newest.emplace_back(items[0].text, at);
    }
    const auto runs = read_runs(session, newest);
    if (!runs) return fail(runs.error());
    // In the order of `newest`, without those that are gone.
    auto run = runs->begin();
    for (std::size_t i = 0; i < newest.size() && run != runs->end(); ++i) {
      if (run->id == newest[i].first) jobs[whose[i]].last = {*run++};
    }
  }
  return {};
}

std::string state_of(const ListedJob& job) {
  if (!job.problem.empty()) return "invalid: " + job.problem;
  if (!job.is_paused) return "active";
  const jobs::ClusterPause pause = job.pause.value_or(jobs::ClusterPause());
  return "paused" + (pause.by.empty() ? "" : " by " + pause.by) + (pause.note.empty() ? "" : ": " + pause.note);
}

void print_listed_job(const ListedJob& job) {
  JsonWriter json;
  json.begin_map().member("name", job.name).member("schedule", job.schedule).member("lock", job.lock);
  json.member("command", job.command).key("paused").boolean(job.is_paused);
  if (job.pause && job.pause->since) json.member("pausedSince", rfc3339(*job.pause->since));
  if (job.pause && !job.pause->by.empty()) json.member("pausedBy", job.pause->by);
  if (job.pause && !job.pause->note.empty()) json.member("note", job.pause->note);
  json.key("problem");
  job.problem.empty() ? json.null() : json.text(job.problem);
  json.key("last");
  if (job.last.empty()) {
    json.null();
  } else {
    write_json(json, job.last.front());
  }
  std::printf("%s\n", json.end_map().take().c_str());
}

bool is_wanted(const ClusterJobsOptions& options, const std::string& name) {
  return name.starts_with(options.prefix) && name.find(options.match) != std::string::npos;
}

Result<std::set<std::string>> read_paused(ClusterSession& session) {
  std::set<std::string> paused;
  const Status done = session.scan("SSCAN", session.keys().paused(), {}, [&](const std::vector<RedisValue>& page) {
    for (const RedisValue& name : page) paused.insert(name.text);
    return Status();
  });
  if (!done) return fail(done.error());
  return paused;
}

struct FoundJobs {
  std::vector<ListedJob> jobs;
  bool are_all = true;
};

Result<FoundJobs> find_jobs(ClusterSession& session, const ClusterJobsOptions& options) {
  const auto definitions = read_definitions(session);
  if (!definitions) return fail(definitions.error());
  const auto paused = read_paused(session);
  if (!paused) return fail(paused.error());
  FoundJobs found;
  for (const auto& [name, text] : *definitions) {
    if (!is_wanted(options, name)) continue;
    ListedJob job = listed(name, text, paused->contains(name));
    if ((options.only_paused && !job.is_paused) || (options.only_invalid && job.problem.empty())) continue;
    if (found.jobs.size() == options.limit) {
      found.are_all = false;
      break;
    }
    found.jobs.push_back(std::move(job));
  }
  if (const Status done = find_last_runs(session, found.jobs); !done) return fail(done.error());
  return found;
}

Result<std::vector<ClusterRun>> find_runs(ClusterSession& session, const ClusterRunsOptions& options) {
  const cluster::Keys& keys = session.keys();
  std::vector<ClusterRun> found;
  std::set<std::string> seen;
  const auto take = [&](std::vector<ClusterRun> runs) {
    for (ClusterRun& run : runs) {
      if (!options.job.empty() && run.job != options.job) continue;
      if (seen.insert(run.id).second) found.push_back(std::move(run));
    }
  };
  if (options.result.empty() || options.result == "running") {
    // Of a job, they are looked for among all that are active.
    const auto ids = read_newest(session, keys.active(), options.job.empty() ? options.limit : 100'000);
    if (!ids) return fail(ids.error());
    auto runs = read_runs(session, *ids);
    if (!runs) return fail(runs.error());
    take(*std::move(runs));
  }
  const std::size_t active = found.size();
  for (const char* status : {"success", "fail"}) {
    if (!options.result.empty() && options.result != status) continue;
    const auto ids = read_newest(
        session, options.job.empty() ? keys.results(status) : keys.results(options.job, status), options.limit);
    if (!ids) return fail(ids.error());
    auto runs = read_runs(session, *ids);
    if (!runs) return fail(runs.error());
    take(*std::move(runs));
  }
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(active), found.end(),
            [](const ClusterRun& a, const ClusterRun& b) { return a.at > b.at; });
  if (found.size() > options.limit) found.resize(options.limit);
  return found;
}

}  // namespace

int cluster_jobs(const ClusterJobsOptions& options) {
  constexpr std::string_view kVerb = "cluster jobs";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto found = find_jobs(*session, options);
  if (!found) return refuse(kVerb, found.error(), options.json);
  if (options.json) {
    for (const ListedJob& job : found->jobs) print_listed_job(job);
  } else if (found->jobs.empty()) {
    std::printf("no jobs\n");
  } else {
    const ScreenTimes times = screen_times(options.times);
    Table table({"NAME", "SCHEDULE", "LOCK", "STATE", "LAST"});
    for (const ListedJob& job : found->jobs) {
      const std::string last = job.last.empty() ? "-"
                                                : result_of(job.last.front()) + " " + job.last.front().host + " " +
                                                      times.near(time_text(job.last.front().at));
      table.add({short_cell(job.name), short_cell(or_dash(job.schedule)), short_cell(or_dash(job.lock)),
                 short_cell(state_of(job)), short_cell(last)});
    }
    table.print();
  }
  if (!found->are_all) std::fprintf(stderr, "kron cluster jobs: there are more: a higher --limit shows them\n");
  return 0;
}

int cluster_runs(const ClusterRunsOptions& options) {
  constexpr std::string_view kVerb = "cluster runs";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto runs = find_runs(*session, options);
  if (!runs) return refuse(kVerb, runs.error(), options.json);
  if (runs->empty() && !options.job.empty()) {
    const std::vector<std::string> names{options.job};
    if (const auto known = read_definitions(*session, names); !known) return refuse(kVerb, known.error(), options.json);
  }
  if (options.json) {
    for (const ClusterRun& run : *runs) {
      JsonWriter json;
      write_json(json, run);
      std::printf("%s\n", json.take().c_str());
    }
    return 0;
  }
  if (runs->empty()) {
    std::printf("no runs\n");
    return 0;
  }
  const ScreenTimes times = screen_times(options.times);
  Table table({"STARTED", "DURATION", "HOST", "JOB", "RESULT", "RUN"});
  for (const ClusterRun& run : *runs) {
    table.add({or_dash(times.near(time_text(run.started))), or_dash(seconds_text(run.duration)),
               short_cell(or_dash(run.host)), short_cell(or_dash(run.job)), short_cell(result_of(run)),
               short_cell(run.id)});
  }
  table.print();
  return 0;
}

}  // namespace kron::cli
