#include "kron/jobs/import_cronicle.h"

#include <algorithm>
#include <array>
#include <optional>

#include "kron/base/text.h"
#include "kron/jobs/foreign_jobs.h"

namespace kron::jobs {
namespace {

constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "dash", "ksh", "zsh"};

// The values of one member of `timing`, as a field of a cron expression; nothing when it is no list of numbers.
std::optional<std::string> field_of(const Node& timing, std::string_view key) {
  const Node* node = said(timing, key);
  if (node == nullptr) return "*";
  const auto* values = node->as<Node::List>();
  if (values == nullptr) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Node& value : *values) {
    const auto* number = value.as<std::int64_t>();
    if (number == nullptr || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  const auto doubles = std::ranges::unique(numbers);
  numbers.erase(doubles.begin(), doubles.end());
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

class CronicleImporter {
 public:
  CronicleImporter(ModelContext& context, Report& report) : context_(context), report_(report) {}

  void take(const Node& from) {
    ForeignJob job(from, report_);
    const std::string title = text_in(from, "title");
    job.put("name", name_for(title.empty() ? text_in(from, "id") : title, taken_));
    take_timing(from, job);
    take_command(from, job);
    if (const std::string timeout = text_in(from, "timeout"); said(from, "timeout") != nullptr) {
      job.put("timeout", timeout + "s");
    }
    // Without a number any number of jobs may run at once.
    const std::string most = text_in(from, "max_children");
    if (most != "1") job.put_policy("concurrency", "allow");
    if (most != "1" && said(from, "max_children") != nullptr) {
      job.lose("max_children", "runs overlap without a limit, not " + most.substr(0, 20) + " at most",
               "@policy(concurrency=forbid) allows one");
    }
    const Node* enabled = from.find("enabled");
    if (enabled != nullptr && said(from, "enabled") == nullptr) job.put_policy("suspend", true);
    if (const std::string notes = text_in(from, "notes"); !notes.empty()) job.put("description", notes);
    name_what_is_lost(job);
    if (auto definition = job.finish(context_)) definitions.push_back(*std::move(definition));
  }

  std::vector<JobDefinition> definitions;

 private:
  void take_timing(const Node& from, ForeignJob& job) {
    const Node* timing = from.find("timing");
    if (timing == nullptr || timing->as<Node::Map>() == nullptr) {
      return job.refuse("timing", "the event only runs on demand", "give it a schedule, and suspend=true");
    }
    std::array<std::string, 6> fields;
    constexpr std::array<std::string_view, 6> kKeys{"minutes", "hours", "days", "months", "weekdays", "years"};
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      auto field = field_of(*timing, kKeys[i]);
      if (!field) return job.refuse("timing", std::string(kKeys[i]) + " is no list of numbers from 0 on");
      fields[i] = *std::move(field);
    }
    if (fields[2] != "*" && fields[4] != "*") {
      return job.refuse("timing", "days and weekdays: Cronicle wants both to match, cron is content with either",
                        "give the days as the schedule and the weekdays as a constraint, such as @only(dow=FRI)");
    }
    std::string schedule;
    for (std::size_t i = 0; i < 5; ++i) schedule += (i == 0 ? "" : " ") + fields[i];
    if (fields[5] != "*") schedule = "0 " + schedule + " " + fields[5];
    job.put_schedule(schedule, text_in(from, "timezone"), context_);
  }

  static void take_command(const Node& from, ForeignJob& job) {
    const std::string plugin = text_in(from, "plugin");
    const Node* params = from.find("params");
    if (plugin != "shellplug" || params == nullptr) {
      return job.refuse("plugin", "the plugin " + quoted(plugin, 100) + " is not the one that runs a script",
                        "write a command that does the same");
    }
    const std::string script = text_in(*params, "script");
    if (!script.starts_with("#!")) {
      job.put("shell", true);
      return job.put("command", std::string(trimmed(script)));
    }
    // Its first line names who reads it.
    const std::size_t end = std::min(script.find('\n'), script.size());
    const std::string_view line = trimmed(std::string_view(script).substr(2, end - 2));
    const std::string_view program = line.substr(0, line.find(' '));
    const std::string_view name = program.substr(program.rfind('/') + 1);
    if (program.size() != line.size() || std::ranges::find(kShells, name) == kShells.end()) {
      return job.refuse("params", "the script is one for " + quoted(line, 100) + ", which is no shell without options",
                        "save it as a file that can be executed, and give its path as the command");
    }
    job.put("shell", std::string(program));
    job.put("command", std::string(trimmed(std::string_view(script).substr(end))));
  }

  static void name_what_is_lost(ForeignJob& job) {
    job.lose("retries", "a run that fails is not tried again by itself", "let the command try again");
    job.lose("catch_up", "of what was missed the latest alone is run, and only within its deadline",
             "give a deadline, such as @policy(deadline=1d)");
    job.lose("queue", "what is due while a run goes on is skipped, and does not wait");
    job.lose("multiplex", "a job runs on the host whose krond has its file", "give the file to each host");
    job.lose("detached", "every run outlives a restart of krond as it is");
    job.lose("chain", "is not started when this has ended", "let the command start it, or submit a task");
    job.lose("chain_error", "is not started when this has failed", "let the command start it, or submit a task");
    job.lose("target", "a job runs on the host whose krond has its file");
    for (const char* key : {"notify_success", "notify_fail", "web_hook"}) job.lose(key, "krond tells nobody by itself");
    job.lose("memory_limit", "is not carried over: Cronicle looks now and then, and ends a job that stays above it",
             "memory_max holds a run to it at every moment, such as memory_max=512M");
    job.lose("cpu_limit", "is not carried over: Cronicle ends a job that stays above it",
             "cpu_max slows a run down to it instead, such as cpu_max=50%");
    job.lose("log_max_size", "is not carried over");
  }

  ModelContext& context_;
  Report& report_;
  std::set<std::string> taken_;
};

}  // namespace

std::vector<JobDefinition> import_cronicle(std::string_view text, ModelContext& context, Report& report) {
  CronicleImporter importer(context, report);
  each_foreign_job(text, "rows", report, [&](const Node& job) { importer.take(job); });
  return std::move(importer.definitions);
}

}  // namespace kron::jobs
