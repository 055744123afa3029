#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "answer_text.h"
#include "attention_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "operate_verbs.h"
#include "terminal.h"

namespace kron::cli {
namespace {

constexpr Nanoseconds kAttentionPatience = Seconds(1);

std::string condition_of(const Node& status) {
  if (flag_in(status, "stopping")) return "stopping";
  return flag_in(status, "ready") ? "ready" : "not ready";
}

std::string effect_of(const Node& refused) {
  const std::string in_force = text_in(refused, "inForce");
  if (in_force == "earlier") return "its earlier jobs stay in force";
  return in_force == "rest" ? "its other jobs run" : "none of its jobs runs";
}

// `shown` of `count` were listed.
void print_rest(std::size_t shown, std::size_t count) {
  if (count > shown) print_field("", "and " + counted(count - shown, "more file"));
}

void print_job_files(const Node& files, const ScreenTimes& times) {
  const auto refused_count = static_cast<std::size_t>(number_in(files, "refusedCount"));
  if (refused_count > 0) print_field("job files", counted(refused_count, "file") + " refused");
  const Node::List& refused = list_in(files, "refused");
  for (const Node& file : refused) {
    print_field("refused", place_in(file) + ": " + text_in(file, "reason") + "; " + effect_of(file));
  }
  print_rest(refused.size(), refused_count);
  const Node::List& changed = list_in(files, "changed");
  for (const Node& file : changed) {
    print_field(text_in(file, "change"), text_in(file, "file") + ", on disk since " +
                                             times.at(text_in(files, "readAt")) + "; `kron reload` reads it");
  }
  print_rest(changed.size(), static_cast<std::size_t>(number_in(files, "changedCount")));
  const std::string failed = text_in(files, "reloadError");
  print_field("reload", failed.empty() ? "" : "failed, nothing has changed: " + failed);
}

// To the millisecond.
std::string seconds_in(const Node& map, std::string_view key) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", std::strtod(text_in(map, key).c_str(), nullptr));
  return std::string_view(text.data()) == "-0.000" ? "0.000" : text.data();
}

void print_host(const Node& host) {
  print_field("host", text_in(host, "instance") + ", " + text_in(host, "ip") + ", krond " + text_in(host, "version") +
                          ", " + text_in(host, "running") + " running" +
                          (flag_in(host, "draining") ? ", draining" : "") + ", seen " +
                          seconds_in(host, "beatSecondsAgo") + "s ago");
}

void print_cluster(const Node& cluster) {
  const std::string instance = text_in(cluster, "instance");
  print_field("cluster", text_in(cluster, "redis") + " " + text_in(cluster, "namespace") + ", " +
                             (instance.empty() ? "not joined" : "as " + instance) + ", " + text_in(cluster, "compat") +
                             (flag_in(cluster, "linkUp") ? "" : ", no connection") +
                             (flag_in(cluster, "draining") ? ", draining" : ""));
  print_field("not ready", text_in(cluster, "notReady"));
  print_field("time zone", text_in(cluster, "timezone"));
  print_field("Redis clock", seconds_in(cluster, "clockOffsetSeconds") + " seconds ahead of this machine's");
  if (number_in(cluster, "lostWrites") > 0) print_field("lost writes", text_in(cluster, "lostWrites"));
  for (const Node& warning : list_in(cluster, "warnings")) {
    print_field(text_in(warning, "severity"), harmless(text_in(warning, "message")));
  }
  for (const Node& host : list_in(cluster, "hosts")) print_host(host);
}

// Relative to krond's own clock, which a drill may have shifted.
ScreenTimes times_of(const Node& status, const TimeFlags& flags) {
  const auto now = parse_rfc3339(text_in(status, "now"));
  return now ? screen_times(flags, *now) : screen_times(flags);
}

// `attention`: null when this krond does not tell.
void print_status(const Node& status, const Node* attention, const ScreenTimes& times) {
  print_field("krond", text_in(status, "version") + ", PID " + text_in(status, "pid") + ", " + condition_of(status));
  print_field("started", times.near(text_in(status, "startedAt")));
  print_field("now", times.at(text_in(status, "now")) + (times.is_for_people() ? " " + times.zone_name() : ""));
  const std::string offset = text_in(status, "clockOffsetSeconds");
  if (offset != "0") print_field("clock offset", offset.empty() ? "" : offset + " seconds");
  print_field("jobs", text_in(status, "jobs") + ", " + text_in(status, "running") + " running");
  std::string label = "slots";
  for (const Node& slots : list_in(status, "slots")) {
    const std::string pool = text_in(slots, "pool");
    const std::string since = text_in(slots, "waitingSince");
    print_field(std::exchange(label, ""),
                (pool.empty() ? "of the host" : "of the pool " + pool) + ": " + text_in(slots, "used") + " of " +
                    text_in(slots, "slots") + " used, " + text_in(slots, "waiting") + " waiting" +
                    (since.empty() ? "" : ", " + text_in(slots, "longest") + " since " + times.near(since)));
  }
  if (attention != nullptr) print_attention(*attention, times);
  if (const Node* cluster = status.find("cluster")) print_cluster(*cluster);
  if (const Node* files = status.find("jobFiles")) print_job_files(*files, times);
  const std::string next = text_in(status, "nextDue");
  print_field("next due", next.empty() ? "never" : times.near(next));
  if (const Node* tasks = status.find("tasks"); tasks != nullptr && !tasks->is_null()) {
    print_field("tasks", text_in(*tasks, "pending") + " pending, " + text_in(*tasks, "running") + " running");
  }
  for (const Node& job : list_in(status, "notScheduled")) {
    print_field("not scheduled", harmless(text_in(job, "identity")) + ": " + harmless(text_in(job, "reason")));
  }
  if (const std::string problem = text_in(status, "tasksProblem"); !problem.empty()) {
    print_field("task queue", "waits: " + problem);
  }
  print_field("state", text_in(status, "stateDirectory"));
  for (const Node& path : list_in(status, "config")) {
    if (const auto* text = path.as<std::string>()) print_field("config", *text);
  }
  print_field("socket", text_in(status, "socket"));
}

}  // namespace

int show_status(const DaemonOptions& options) {
  auto client = DaemonClient::open(options);
  auto body = client ? client->status_with_changes() : fail(client.error());
  // An older krond does not tell, one that starts thousands of late jobs does not soon, and whoever asks for the status
  // wants it in any case.
  const auto told = body ? client->get_within(Target("attention"), kAttentionPatience) : fail(body.error());
  const bool is_busy = body && !told && told.error().code == Code::unreachable;
  const auto attention = told ? parsed_answer(*told) : fail(told.error());
  if (options.json && attention) body = with_attention(*body, *told);
  return answered("status", options.json, body, [&](const Node& status) {
    print_status(status, attention ? &*attention : nullptr, times_of(status, options.times));
    if (is_busy) print_field("attention", "not known: krond is busy; ask again in a moment");
  });
}

}  // namespace kron::cli
