#include <algorithm>
#include <cstdio>

#include "answer_text.h"
#include "cluster_edit.h"
#include "cluster_verbs.h"
#include "kron/json/writer.h"
#include "lines.h"

namespace kron::cli {
namespace {

constexpr std::size_t kRunsRemovedAtOnce = 500;

// What is left of a job that is gone.
struct Remains {
  std::vector<std::string> state_fields = {};
  std::vector<std::string> runs = {};  // in rundata
  bool has_results = false;
};
using AllRemains = std::map<std::string, Remains>;

// A pattern that matches the text itself: SCAN knows * ? [ and \.
std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// The job of `results:<job>:success`; empty for the general sets.
std::string job_of_results(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return {};
  key.remove_prefix(prefix.size());
  for (const std::string_view ending : {":success", ":fail"}) {
    if (key.size() > ending.size() && key.ends_with(ending)) {
      return std::string(key.substr(0, key.size() - ending.size()));
    }
  }
  return {};
}

Result<std::set<std::string>> active_ids(ClusterSession& session) {
  std::set<std::string> ids;
  const Status done = session.scan("ZSCAN", session.keys().active(), {}, [&](const std::vector<RedisValue>& page) {
    for (std::size_t i = 0; i < page.size(); i += 2) ids.insert(page[i].text);
    return Status();
  });
  if (!done) return fail(done.error());
  return ids;
}

Status find_results(ClusterSession& session, AllRemains& remains) {
  const std::string prefix = session.keys().results("");
  const std::vector<std::string> match{"MATCH", literal_pattern(prefix) + "*"};
  return session.scan("SCAN", "", match, [&](const std::vector<RedisValue>& page) {
    for (const RedisValue& key : page) {
      const std::string job = job_of_results(key.text, prefix);
      if (!job.empty()) remains[job].has_results = true;
    }
    return Status();
  });
}

Status find_runs_of_jobs(ClusterSession& session, AllRemains& remains) {
  const auto active = active_ids(session);
  if (!active) return fail(active.error());
  return session.scan("HSCAN", session.keys().rundata(), {}, [&](const std::vector<RedisValue>& page) {
    for (std::size_t i = 0; i + 1 < page.size(); i += 2) {
      const std::string job = run_of(page[i].text, page[i + 1].text).job;
      if (!job.empty() && !active->contains(page[i].text)) remains[job].runs.push_back(page[i].text);
    }
    return Status();
  });
}

Result<AllRemains> find_remains(ClusterSession& session) {
  AllRemains remains;
  auto state = read_state_fields(session);
  if (!state) return fail(state.error());
  for (auto& [job, fields] : *state) remains[job].state_fields = std::move(fields);
  if (const Status done = find_results(session, remains); !done) return fail(done.error());
  if (const Status done = find_runs_of_jobs(session, remains); !done) return fail(done.error());
  // Last: a job that was added while we looked is there.
  const auto names = read_names(session);
  if (!names) return fail(names.error());
  std::erase_if(remains, [&](const auto& one) { return names->contains(one.first); });
  return remains;
}

Status remove_remains(ClusterSession& session, const std::string& job, const Remains& remains) {
  const auto pruned = prune_job(session, job, remains.state_fields);
  if (!pruned) return fail(pruned.error());
  for (std::size_t first = 0; first < remains.runs.size(); first += kRunsRemovedAtOnce) {
    RedisCommand command{"HDEL", session.keys().rundata()};
    for (std::size_t i = first; i < std::min(first + kRunsRemovedAtOnce, remains.runs.size()); ++i) {
      command.push_back(remains.runs[i]);
    }
    if (const auto removed = session.ask(std::move(command)); !removed) return fail(removed.error());
  }
  return {};
}

void print_remains(const std::string& job, const Remains& remains, const ClusterPruneOptions& options) {
  if (options.json) {
    JsonWriter json;
    json.begin_map().member("job", job).key("removed").boolean(options.yes);
    json.key("records").integer(static_cast<std::int64_t>(remains.state_fields.size()));
    json.key("results").boolean(remains.has_results);
    json.key("runs").integer(static_cast<std::int64_t>(remains.runs.size())).end_map();
    std::printf("%s\n", json.take().c_str());
    return;
  }
  std::printf("%s %s: %zu records, %zu runs\n", options.yes ? "removed" : "would remove", harmless(job).c_str(),
              remains.state_fields.size(), remains.runs.size());
}

}  // namespace

int cluster_prune(const ClusterPruneOptions& options) {
  constexpr std::string_view kVerb = "cluster prune";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto remains = find_remains(*session);
  if (!remains) return refuse(kVerb, remains.error(), options.json);
  for (const auto& [job, left] : *remains) {
    if (options.yes) {
      if (const Status done = remove_remains(*session, job, left); !done) {
        return refuse(kVerb, done.error(), options.json);
      }
    }
    print_remains(job, left, options);
  }
  if (options.json) return 0;
  if (remains->empty()) std::printf("nothing is left of jobs that are gone\n");
  if (!remains->empty() && !options.yes) std::printf("--yes removes it\n");
  return 0;
}

}  // namespace kron::cli
