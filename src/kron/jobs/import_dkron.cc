#include "kron/jobs/import_dkron.h"

#include <algorithm>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/jobs/foreign_jobs.h"

namespace kron::jobs {
namespace {

constexpr std::string_view kAt = "@at ";

// One instant, as a schedule in UTC.
std::string schedule_at(Instant at) {
  // "2026-11-18T07:24:55Z"
  const std::string text = rfc3339(at);
  const auto number = [&](std::size_t from, std::size_t size) {
    return std::to_string(std::stoi(text.substr(from, size)));
  };
  return number(17, 2) + " " + number(14, 2) + " " + number(11, 2) + " " + number(8, 2) + " " + number(5, 2) + " * " +
         number(0, 4);
}

class DkronImporter {
 public:
  DkronImporter(ModelContext& context, Report& report) : context_(context), report_(report) {}

  void take(const Node& from) {
    ForeignJob job(from, report_);
    job.put("name", name_for(text_in(from, "name"), taken_));
    take_schedule(from, job);
    take_command(from, job);
    // dkron lets runs overlap unless told otherwise.
    const std::string overlap = text_in(from, "concurrency");
    if (overlap.empty() || overlap == "allow") {
      job.put_policy("concurrency", "allow");
    } else if (overlap != "forbid") {
      job.refuse("concurrency", "concurrency is allow or forbid");
    }
    if (said(from, "disabled") != nullptr) job.put_policy("suspend", true);
    if (const std::string shown = text_in(from, "displayname"); !shown.empty()) job.put("description", shown);
    name_what_is_lost(job);
    if (auto definition = job.finish(context_)) definitions.push_back(*std::move(definition));
  }

  std::vector<JobDefinition> definitions;

 private:
  void take_schedule(const Node& from, ForeignJob& job) {
    std::string text(trimmed(text_in(from, "schedule")));
    std::string zone = text_in(from, "timezone");
    for (const std::string_view prefix : {"CRON_TZ=", "TZ="}) {
      if (!text.starts_with(prefix)) continue;
      const std::size_t end = std::min(text.find(' '), text.size());
      zone = text.substr(prefix.size(), end - prefix.size());
      text = trimmed(std::string_view(text).substr(end));
    }
    if (text.empty() && said(from, "parent_job") != nullptr) {
      return job.refuse("parent_job", "the job runs when " + quoted(text_in(from, "parent_job"), 100) + " has ended",
                        "let that job's command start it, or submit a task");
    }
    if (text.empty() || text == "@manually") {
      return job.refuse("schedule", "the job is only started by hand", "give it a schedule, and suspend=true");
    }
    if (text.starts_with(kAt)) {
      const auto at = parse_rfc3339(text.substr(kAt.size()));
      if (!at) return job.refuse("schedule", "@at: " + at.error().message);
      return job.put_schedule(schedule_at(*at), "UTC", context_);
    }
    if (text.starts_with('@') && !zone.empty()) {
      report_.note(
          from.position(), "timezone",
          "dkron passes the timezone by for " + quoted(text, 40) + ": the job has the zone of this host, as there");
      zone.clear();
    }
    if (text == "@minutely") text = "* * * * *";
    if (text.starts_with("@every")) {
      report_.warn(from.position(), "schedule",
                   "@every counts from 1970-01-01T00:00:00Z, dkron from its own start: the distance is the same, the "
                   "times are others");
    }
    std::ranges::replace(text, '?', '*');
    job.put_schedule(text, zone, context_);
  }

  void take_command(const Node& from, ForeignJob& job) {
    const std::string executor = text_in(from, "executor");
    const Node* config = from.find("executor_config");
    if (executor != "shell" || config == nullptr) {
      return job.refuse("executor", "the executor " + quoted(executor, 100) + " is not one that runs a command",
                        "write a command that does the same");
    }
    job.put("command", text_in(*config, "command"));
    if (text_in(*config, "shell") == "true") job.put("shell", true);
    for (const char* key : {"cwd", "timeout"}) {
      if (const std::string value = text_in(*config, key); !value.empty()) job.put(key, value);
    }
    if (const std::string limit = text_in(*config, "mem_limit_kb"); !limit.empty() && limit != "0") {
      job.put("memory_max", limit + "k");
    }
    put_environment(text_in(*config, "env"), job);
  }

  // "A=1,B=2"
  static void put_environment(std::string_view text, ForeignJob& job) {
    Node::Map variables;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(','), text.size());
      const std::string_view pair = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos) {
        if (!pair.empty()) job.refuse("executor_config", "env: " + quoted(pair, 100) + " is no NAME=value");
        continue;
      }
      variables.push_back({std::string(pair.substr(0, equals)), {}, Node(std::string(pair.substr(equals + 1)))});
    }
    if (!variables.empty()) job.put("env", std::move(variables));
  }

  static void name_what_is_lost(ForeignJob& job) {
    job.lose("retries", "a run that fails is not tried again by itself", "let the command try again");
    job.lose("tags", "a job runs on the host whose krond has its file", "give the file to that host");
    job.lose("processors", "output is captured, and kept with the run", "see kron logs");
    job.lose("parent_job", "is not carried over: the job runs by its own schedule alone");
    job.lose("dependent_jobs", "are not started by this one", "let its command start them, or submit a task");
    job.lose("ephemeral", "the job is not removed after its first success");
    job.lose("expires_at", "the job does not end by itself", "give the schedule a year, or remove the job then");
    job.lose("owner", "is not carried over");
    job.lose("owner_email", "krond sends no mail");
    job.lose("metadata", "is not carried over", "a name such as team/job groups jobs");
  }

  ModelContext& context_;
  Report& report_;
  std::set<std::string> taken_;
};

}  // namespace

std::vector<JobDefinition> import_dkron(std::string_view text, ModelContext& context, Report& report) {
  DkronImporter importer(context, report);
  each_foreign_job(text, "jobs", report, [&](const Node& job) { importer.take(job); });
  return std::move(importer.definitions);
}

}  // namespace kron::jobs
